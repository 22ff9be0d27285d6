package engine

import (
	"context"
	"time"

	"ackmark/loadgen/measure"
)

// hiccupEvery is how often the meter wakes: 200 times a second, so that a run
// of 15 s has 3,000 samples, for 0.1 % of a core.
const hiccupEvery = 5 * time.Millisecond

// hiccups measures how long anything in the generator waits before it runs:
// a goroutine that wants to wake at absolute times, every hiccupEvery, and
// records how late it was. It waits as the goroutines do that read deliveries
// and fire ack timers: for a timer or the network poller, for a thread, and for
// a core. So what it finds, a stopped process, a machine with too few cores or a
// burst of its own work, is also inside the latencies of the run.
//
// A moment that has passed unseen is recorded too: a process that was stopped
// for 200 ms missed 40 of them, and was 200, 195, 190 … ms late. So a
// percentile is one of time, not of wake-ups.
//
// It returns when the measure phase is over or ctx ends.
func (r *run) hiccups(ctx context.Context, from, to time.Duration) {
	rec := r.obs.window.Load().recorder.Shard(0)
	w := newWaiter(r.clock)
	for at := from; at < to; at += hiccupEvery {
		if w.until(ctx, at) != nil {
			return
		}
		rec.Record(measure.Hiccup, at, max(r.clock.now()-at, 0))
	}
}
