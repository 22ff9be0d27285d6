package measure

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// LogEntry is one line of a .hlog file: a histogram, its tag, and the interval
// it covers since the run's start.
type LogEntry struct {
	Tag        string
	Start, End time.Duration
	Histogram  *Histogram
}

// LogEntries gives every latency of a snapshot that has samples, tagged prefix
// and name, over the measure phase.
func (s *Snapshot) LogEntries(prefix string) []LogEntry {
	var out []LogEntry
	for n, h := range s.hist {
		if h.Count() > 0 {
			out = append(out, LogEntry{Tag: prefix + Name(n).String(), Start: s.cfg.MeasureStart, End: s.cfg.MeasureEnd, Histogram: h})
		}
	}
	return out
}

// WriteLog writes entries in HdrHistogram's log format 1.3, which its tools
// read. Values are microseconds; the column Interval_Max, by the format's
// convention divided by 10⁶, is therefore in seconds. began is the wall clock
// time of the run's start, kept to the second; interval times are relative to it.
func WriteLog(w io.Writer, began time.Time, entries []LogEntry) error {
	base := began.Unix() * 1000
	lw := hdr.NewHistogramLogWriter(w)
	lw.SetBaseTime(base)
	if err := errors.Join(
		lw.OutputLogFormatVersion(),
		lw.OutputComment("[Ackmark: values are microseconds, Interval_Max is seconds, lines are tagged with their histogram]"),
		lw.OutputBaseTime(base),
		lw.OutputStartTime(base),
		lw.OutputLegend(),
	); err != nil {
		return fmt.Errorf("writing the head of a .hlog: %w", err)
	}
	for _, e := range entries {
		if e.Tag == "" || strings.ContainsAny(e.Tag, ", \r\n") {
			return fmt.Errorf("tag %q of a .hlog line is empty or has a comma, a space or a line break", e.Tag)
		}
		h := e.Histogram.hdr.Clone()
		h.SetTag(e.Tag)
		h.SetStartTimeMs(base + e.Start.Milliseconds())
		h.SetEndTimeMs(base + e.End.Milliseconds())
		if err := lw.OutputIntervalHistogram(h); err != nil {
			return fmt.Errorf("writing %s to a .hlog: %w", e.Tag, err)
		}
	}
	return nil
}

// maxLog bounds what ReadLog takes into memory.
const maxLog = 256 << 20

// ReadLog reads what WriteLog wrote: the run's start, and the entries with
// their intervals within a millisecond.
func ReadLog(r io.Reader) (began time.Time, entries []LogEntry, err error) {
	text, err := io.ReadAll(io.LimitReader(r, maxLog+1))
	if err != nil {
		return began, nil, fmt.Errorf("reading a .hlog: %w", err)
	}
	if len(text) > maxLog {
		return began, nil, fmt.Errorf(".hlog is larger than %d MiB", maxLog>>20)
	}
	base := baseTime(text)
	lr := hdr.NewHistogramLogReader(bytes.NewReader(text))
	for {
		got, err := lr.NextIntervalHistogram()
		if err != nil {
			return began, nil, fmt.Errorf(".hlog, histogram %d: %w", len(entries)+1, err)
		}
		if got == nil {
			return time.Unix(base, 0).UTC(), entries, nil
		}
		h, err := adopt(got)
		if err != nil {
			return began, nil, fmt.Errorf(".hlog, histogram %d (%s): %w", len(entries)+1, got.Tag(), err)
		}
		entries = append(entries, LogEntry{
			Tag:       got.Tag(),
			Start:     time.Duration(got.StartTimeMs()-base*1000) * time.Millisecond,
			End:       time.Duration(got.EndTimeMs()-base*1000) * time.Millisecond,
			Histogram: h,
		})
	}
}

// baseTime finds the log's base in seconds since 1970; the library reads it
// too but keeps it to itself.
func baseTime(text []byte) int64 {
	const mark = "#[BaseTime: "
	for line := range bytes.Lines(text) {
		rest, ok := bytes.CutPrefix(line, []byte(mark))
		if !ok {
			continue
		}
		digits, _, _ := bytes.Cut(rest, []byte(" "))
		if sec, err := strconv.ParseInt(string(digits), 10, 64); err == nil {
			return sec
		}
	}
	return 0
}
