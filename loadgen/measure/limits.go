package measure

import (
	"fmt"
	"time"
)

// Limits past which a measurement can't be trusted (measuring rule 19). They
// are stated in the result beside the verdict.
type Limits struct {
	// CPUShare of the generator's cores: above it, it had no room to be on time.
	CPUShare float64 `json:"cpu_share"`
	// WaitShare of the time it wanted a core and had none.
	WaitShare float64 `json:"wait_share"`
	// GCPauseMax and SchedP99 bound what its own runtime may add to a latency.
	GCPauseMax time.Duration `json:"gc_pause_max"`
	SchedP99   time.Duration `json:"sched_p99"`
	// LagShare is how large schedule lag may be against the printed latency at
	// the same percentile. Lag below LagFloor, the grain of a timer, never counts.
	LagShare float64       `json:"lag_share"`
	LagFloor time.Duration `json:"lag_floor"`
	// Achieved is the least share of the offered load that must have left
	// or been refused by the system.
	Achieved float64 `json:"achieved"`
}

// DefaultLimits are used unless a run says otherwise. On a machine shared by
// generator, server and Redis some waiting for cores is part of the load, so
// WaitShare is at a half; time.Sleep alone wakes 1.1 ms late at p99, hence
// LagFloor.
func DefaultLimits() Limits {
	return Limits{
		CPUShare: 0.9, WaitShare: 0.5,
		GCPauseMax: 20 * time.Millisecond, SchedP99: 50 * time.Millisecond,
		LagShare: 0.5, LagFloor: 1500 * time.Microsecond,
		Achieved: 0.99,
	}
}

// Reasons says, one sentence each, why the generator's health makes a run
// invalid; none when it's well.
func (h Health) Reasons(l Limits) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if h.Wall <= 0 {
		say("the generator's health wasn't measured: the interval is %v", h.Wall)
		return out
	}
	if s := h.CPUShare(); s > l.CPUShare {
		say("generator starved: it used %.0f %% of its %d cores (limit %.0f %%)", 100*s, h.CoresMax, 100*l.CPUShare)
	}
	if s := h.WaitShare(); h.HasRunQueue && s > l.WaitShare {
		say("generator starved: its threads waited for a core %.0f %% of the time they wanted one (limit %.0f %%)", 100*s, 100*l.WaitShare)
	}
	if h.GCPauseMax > l.GCPauseMax {
		say("generator paused %v in a garbage collection (limit %v)", h.GCPauseMax, l.GCPauseMax)
	}
	if h.SchedP99 > l.SchedP99 {
		say("generator's goroutines waited %v for a thread at p99 (limit %v)", h.SchedP99, l.SchedP99)
	}
	return out
}

// LagReasons compares schedule lag with a printed latency, percentile by
// percentile, maximum with maximum. what names the latency. Lag without a
// latency, or a latency without lag, gives no reason: a missing histogram is
// judged where it's required.
func (l Limits) LagReasons(what string, latency, lag Percentiles) []string {
	var out []string
	for _, c := range []struct {
		name         string
		latency, lag *int64
	}{
		{"p50", latency.P50, lag.P50}, {"p90", latency.P90, lag.P90}, {"p99", latency.P99, lag.P99},
		{"p99.9", latency.P999, lag.P999}, {"max", latency.Max, lag.Max},
	} {
		if c.latency == nil || c.lag == nil || *c.lag <= l.LagFloor.Microseconds() {
			continue
		}
		if float64(*c.lag) > l.LagShare*float64(*c.latency) {
			out = append(out, fmt.Sprintf("schedule lag %s is %v, more than %.0f %% of %s %s, %v",
				c.name, us(*c.lag), 100*l.LagShare, what, c.name, us(*c.latency)))
		}
	}
	if lag.Overflow > 0 {
		out = append(out, fmt.Sprintf("%d sends left more than %v late", lag.Overflow, MaxValue))
	}
	return out
}

func us(v int64) time.Duration { return time.Duration(v) * time.Microsecond }

// AchievedReasons judges whether the load that was offered took place: sent
// and refused are what left and what the system refused with a typed error.
func (l Limits) AchievedReasons(offered, sent, refused int64) []string {
	if offered <= 0 {
		return []string{"no load was offered in the measure phase"}
	}
	if got := sent + refused; float64(got) < l.Achieved*float64(offered) {
		return []string{fmt.Sprintf("%d of %d offered sends left (%.1f %%, limit %.0f %%)",
			got, offered, 100*float64(got)/float64(offered), 100*l.Achieved)}
	}
	return nil
}
