package stub

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseDelay reads a distribution as flags have it: "constant 80ms",
// "uniform 40ms 90ms", "log-normal 60ms 0.25" (median, sigma) or
// "bimodal 40ms 90ms 0.2" (fast, slow, share of slow).
func ParseDelay(s string) (Delay, error) {
	kind, rest, _ := strings.Cut(s, " ")
	words := strings.Fields(rest)
	want := map[string]int{"constant": 1, "uniform": 2, "log-normal": 2, "bimodal": 3}[kind]
	if want == 0 || len(words) != want {
		return nil, fmt.Errorf("delay %q: it should be one of constant D, uniform LOW HIGH, log-normal MEDIAN SIGMA, bimodal FAST SLOW SHARE", s)
	}
	var times [2]time.Duration
	last := words[len(words)-1]
	if kind == "log-normal" || kind == "bimodal" {
		words = words[:len(words)-1]
	}
	for i, w := range words {
		d, err := time.ParseDuration(w)
		if err != nil || d < 0 || d > time.Hour {
			return nil, fmt.Errorf("delay %q: %q isn't a time from 0s to 1h, such as 80ms", s, w)
		}
		times[i] = d
	}
	switch kind {
	case "constant":
		return Constant(times[0]), nil
	case "uniform":
		if times[1] < times[0] {
			return nil, fmt.Errorf("delay %q: the low end lies above the high one", s)
		}
		return Uniform{times[0], times[1]}, nil
	}
	x, err := strconv.ParseFloat(last, 64)
	if err != nil || math.IsNaN(x) || x < 0 || kind == "bimodal" && x > 1 || x > 3 {
		return nil, fmt.Errorf("delay %q: %q isn't a share from 0 to 1 or a sigma from 0 to 3", s, last)
	}
	if kind == "log-normal" {
		return LogNormal{times[0], x}, nil
	}
	return Bimodal{times[0], times[1], x}, nil
}
