package stub

import (
	"sync/atomic"
	"time"
)

// gate is closed for the time of the stall.
type gate struct {
	now   func() int64
	plan  Stall
	from  atomic.Int64 // when it closes; 0 = no send was read yet
	ended atomic.Int64 // when something first passed after it
}

// begin starts the plan's time with the first send.
func (g *gate) begin(at int64) {
	if g.plan.For > 0 && g.from.Load() == 0 {
		g.from.CompareAndSwap(0, at+int64(g.plan.At))
	}
}

// openAt returns the first time from at on at which the gate is open.
func (g *gate) openAt(at int64) int64 {
	from := g.from.Load()
	if to := from + int64(g.plan.For); from > 0 && at >= from && at < to {
		return to
	}
	return at
}

// passed notes that work goes on.
func (g *gate) passed(now int64) {
	if from := g.from.Load(); from > 0 && now >= from+int64(g.plan.For) && g.ended.Load() == 0 {
		g.ended.CompareAndSwap(0, now)
	}
}

// wait returns when the gate is open.
func (g *gate) wait() {
	for {
		now := g.now()
		at := g.openAt(now)
		if at <= now {
			g.passed(now)
			return
		}
		time.Sleep(time.Duration(at - now))
	}
}
