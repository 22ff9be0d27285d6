package selftest

import (
	"math"
	"time"

	"ackmark/results"
)

const (
	// tolerance of a percentile, as a share: what loopback and two schedulers add.
	tolerance = 0.01
	// replayTolerance is that of every run, see results.DefaultLimits.
	replayTolerance = 0.01
)

// Cases are what loadgen selftest tests, in about a minute: four distributions,
// a stall, and each fault alone.
func Cases() []Case {
	var out []Case
	for _, d := range []string{"constant 80ms", "uniform 40ms 90ms", "log-normal 60ms 0.25", "bimodal 40ms 90ms 0.2"} {
		out = append(out, Case{Name: d, Stub: []string{"--delay", d}, Rate: 500, Measure: 2 * time.Second, Drain: 2 * time.Second, Judge: percentiles})
	}
	out = append(out, Stall(500*time.Millisecond, 4*time.Second))
	for _, f := range []struct {
		name  string
		flag  string
		share string
		drain time.Duration
	}{
		{"lost", "--lose", "0.02", time.Second}, {"written twice", "--again", "0.02", 2 * time.Second},
		{"stored twice", "--twice", "0.05", 2 * time.Second}, {"swapped on the wire", "--swap", "0.05", 4 * time.Second},
		{"shown too late", "--late", "0.01", 10 * time.Second}, {"renumbered", "--renumber", "0.05", 4 * time.Second},
	} {
		out = append(out, Case{Name: f.name, Stub: []string{"--delay", "uniform 2ms 12ms", f.flag, f.share},
			Rate: 300, Measure: 2 * time.Second, Drain: f.drain, Judge: faults})
	}
	return out
}

// Stall is a case of one pause of the whole server in a run that measures for a
// time; it begins half-way.
func Stall(pause, measure time.Duration) Case {
	return Case{
		Name: "stall of " + pause.String(), Rate: 500, Measure: measure, Drain: 2 * time.Second, Judge: stall,
		Stub: []string{"--delay", stallDelay.String(), "--stall-at", (time.Second + measure/2).String(), "--stall-for", pause.String()},
	}
}

// stallDelay is added to what a stall costs.
const stallDelay = delay(10 * time.Millisecond)

type delay time.Duration

func (d delay) String() string { return "constant " + time.Duration(d).String() }

func us(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// near is a timing check of a figure in µs.
func near(what string, expected, found, within float64) Check {
	c := Check{What: what, Unit: results.Microseconds, Expected: expected, Found: results.Number(found), Timing: true, Status: OK}
	if !(math.Abs(found-expected) <= within) {
		c.Status = Wrong
	}
	return c
}

// equal is a check of a count.
func equal(what string, expected, found int) Check {
	c := Check{What: what, Expected: float64(expected), Found: results.Number(float64(found)), Status: OK}
	if expected != found {
		c.Status = Wrong
	}
	return c
}

// percentiles holds those that are printed, and the 90th, against the truth:
// from the intended time and from departure.
func percentiles(t *Trial) []Check {
	d := t.Truth.Delays
	counted := equal("deliveries measured", int(d.Count), 0)
	if h, ok := t.Run.Histograms["live"]; ok {
		counted = equal("deliveries measured", int(d.Count), int(h.Count+h.Overflow))
	}
	counted.Timing = true // a send that was late over the end of the phase is on two sides of it
	out := []Check{counted}
	for _, name := range []string{"live", "live_service"} {
		for _, p := range []struct {
			stat, title string
			truth       time.Duration
		}{{"p50", "p50", d.P50}, {"p90", "p90", d.P90}, {"p99", "p99", d.P99}, {"p999", "p99.9", d.P999}} {
			found, ok := t.Run.Value(name + "." + p.stat)
			if !ok {
				found = math.NaN()
			}
			out = append(out, near(name+"."+p.title, us(p.truth), found, tolerance*us(p.truth)))
		}
	}
	return append(out, faults(t)...)
}

// faults holds the audit's counts against what was injected, which is nothing
// for most of them.
func faults(t *Trial) []Check {
	a, truth := t.Run.Audit, &t.Truth
	again := len(truth.Again) + len(truth.ShownTwice)
	out := []Check{
		equal("sends", int(truth.Sends), int(a.Sends)),
		equal("lost", len(truth.Lost), int(a.Lost)),
		equal("redelivered", again, int(a.Redelivered)),
		equal("shown twice", len(truth.ShownTwice), int(a.ShownTwice)),
		equal("out of order", len(truth.Late), int(a.OutOfOrder)),
		equal("seq mismatch", 2*len(truth.Renumbered), int(a.SeqMismatch)),
		equal("unknown, refused, foreign", 0, int(a.Unknown+a.Refused+a.Foreign+a.RefusedArrived)),
	}
	differing := 0
	for _, r := range t.Run.Health.Reconciliations {
		if !r.OK() {
			differing++
		}
	}
	out = append(out, equal("counters that differ from the stub's", 0, differing))
	if acks := t.Run.Acks; acks.Replayed != nil {
		c := Check{What: "ack requests, replayed", Expected: float64(*acks.Replayed), Found: results.Number(float64(acks.Requests)), Timing: true, Status: OK}
		if math.Abs(float64(acks.Requests)-c.Expected) > replayTolerance*c.Expected {
			c.Status = Wrong
		}
		out = append(out, c)
	}
	return out
}

// stall derives percentiles from the stall's length S alone: sends leave evenly
// over the T of the phase, so the slowest share u of the deliveries is those of
// the first u·T of the stall, and the fastest of them took S − u·T at least. What
// was read after the stall took the stub's own delay more, and the time that
// it needs to catch up, for which a tenth of the stall is allowed.
func stall(t *Trial) []Check {
	length, phase := us(t.Truth.Stalled), us(t.Case.Measure)
	more := (us(time.Duration(stallDelay)) + length/10) / 2
	var out []Check
	for _, p := range []struct {
		stat, title string
		share       float64
	}{{"p99", "p99", 0.01}, {"p999", "p99.9", 0.001}} {
		expected := length - p.share*phase + more
		for _, name := range []string{"live", "live_service"} {
			found, ok := t.Run.Value(name + "." + p.stat)
			if !ok {
				found = math.NaN()
			}
			out = append(out, near(name+"."+p.title, expected, found, more+tolerance*length))
		}
	}
	return append(out, faults(t)...)
}
