package measure

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func someLog(t testing.TB) []byte {
	t.Helper()
	r, err := NewRecorder(Config{Shards: 1, MeasureStart: 2 * time.Second, MeasureEnd: 17 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		r.Shard(0).Record(Live, 3*time.Second, time.Duration(i)*ms)
		r.Shard(0).Record(ScheduleLag, 3*time.Second, time.Duration(i)*time.Microsecond)
	}
	var b bytes.Buffer
	if err := WriteLog(&b, time.Unix(1_700_000_000, 0), r.Snapshot().LogEntries("each.1.")); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestLogRoundTrip(t *testing.T) {
	text := someLog(t)
	for _, w := range []string{"#[Histogram log format version 1.3]", "#[BaseTime: 1700000000 ", "Tag=each.1.live,2.000000,15.000000,", "\"StartTimestamp\""} {
		if !strings.Contains(string(text), w) {
			t.Errorf("log lacks %q:\n%.500s", w, text)
		}
	}
	began, got, err := ReadLog(bytes.NewReader(text))
	if err != nil || len(got) != 2 || began.Unix() != 1_700_000_000 {
		t.Fatalf("read %d entries of %v: %v", len(got), began, err)
	}
	live := got[0]
	if live.Tag != "each.1.live" || (live.Start-2*time.Second).Abs() > ms || (live.End-17*time.Second).Abs() > ms {
		t.Errorf("entry %s from %v to %v; want each.1.live from 2s to 17s", live.Tag, live.Start, live.End)
	}
	// Ranks 500 and 1000 of 0, 1, … 999 ms.
	p := live.Histogram.Percentiles()
	if p.Count != 1000 || !within(float64(value(t, "p50", p.P50)), 499_000, 0.001) || !within(float64(value(t, "max", p.Max)), 999_000, 0.001) {
		t.Errorf("count %d, p50 %d, max %d; want 1000, 499000, 999000", p.Count, *p.P50, *p.Max)
	}
}

func TestLogRefusesBadTags(t *testing.T) {
	for _, tag := range []string{"", "a b", "a,b", "a\nb"} {
		if err := WriteLog(&bytes.Buffer{}, time.Unix(0, 0), []LogEntry{{Tag: tag, Histogram: NewHistogram()}}); err == nil {
			t.Errorf("tag %q was accepted", tag)
		}
	}
}

func FuzzReadLog(f *testing.F) {
	f.Add(someLog(f))
	f.Add([]byte("#[BaseTime: 12 (seconds since epoch)]\nTag=x,1,2,3,HISTFAAAA\n"))
	f.Add([]byte("Tag=,\n\n1,2,3,\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, entries, err := ReadLog(bytes.NewReader(b))
		if err != nil {
			return
		}
		for _, e := range entries {
			e.Histogram.Percentiles()
		}
	})
}
