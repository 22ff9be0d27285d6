package results

import (
	"fmt"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// Microseconds is the unit of every histogram of time.
const Microseconds = "us"

// Histogram is a distribution with the percentiles that tables show, in whole
// microseconds. A figure is null when nothing was recorded, or when its rank
// falls among values above the range.
type Histogram struct {
	Unit     string   `json:"unit"`  // Microseconds
	Count    int64    `json:"count"` // values, overflow among them
	Min      *int64   `json:"min"`
	P50      *int64   `json:"p50"`
	P90      *int64   `json:"p90"`
	P99      *int64   `json:"p99"`
	P999     *int64   `json:"p999"`
	Max      *int64   `json:"max"`
	Mean     *float64 `json:"mean"`
	Overflow int64    `json:"overflow"` // values above the range
	HDR      string   `json:"hdr"`      // V2 compressed, base64, without the overflow; "" when empty
}

// Decode returns the full distribution, nil when nothing was recorded.
func (h Histogram) Decode() (*hdr.Histogram, error) {
	if h.HDR == "" {
		return nil, nil
	}
	d, err := hdr.Decode([]byte(h.HDR))
	if err != nil {
		return nil, fmt.Errorf("histogram is not V2 compressed HdrHistogram text: %w", err)
	}
	return d, nil
}

// Statistics returns the names of a histogram's figures, as they follow the
// dot in a threshold such as live.p99, in ascending order of value.
func Statistics() []string {
	return []string{"min", "p50", "p90", "p99", "p999", "max", "mean", "count"}
}

// Statistic returns one of Statistics; false when it is null or unknown.
func (h Histogram) Statistic(name string) (float64, bool) {
	var p *int64
	switch name {
	case "min":
		p = h.Min
	case "p50":
		p = h.P50
	case "p90":
		p = h.P90
	case "p99":
		p = h.P99
	case "p999", "p99.9":
		p = h.P999
	case "max":
		p = h.Max
	case "mean":
		if h.Mean != nil {
			return *h.Mean, true
		}
	case "count":
		return float64(h.Count), true
	}
	if p == nil {
		return 0, false
	}
	return float64(*p), true
}
