package engine

import (
	"context"
	"fmt"
	"net"
	"testing"

	"ackmark/loadgen/client"
	"ackmark/loadgen/client/ackpolicy"
)

// counting counts deliveries that an observer has seen; the lane is told when
// their connection has read and done all that came with them.
type counting struct {
	client.Taker
	seen []int64 // by device
}

func (c counting) OnShown(dev int, a client.Arrival) {
	c.Taker.OnShown(dev, a)
	c.seen[dev]++
}

func (c counting) OnTaken(dev int, a client.Arrival) {
	c.Taker.OnTaken(dev, a)
	c.seen[dev]++
}

// unmeasured is an observer that looks at nothing.
type unmeasured struct{ client.Ignore }

// OnTaken does nothing.
func (unmeasured) OnTaken(int, client.Arrival) {}

// told is a connection that tells the lane before it reads again.
type told struct {
	*gated
	lane *lane
	seen *int64
}

func (c *told) Read(p []byte) (int, error) {
	if n := *c.seen; n > 0 && c.tells() {
		*c.seen = 0
		c.lane.add(n)
	}
	return c.gated.Read(p)
}

// devices is the generator: devices with the engine's observer, which keeps
// ledger, histograms, series and the replay; or with none of it.
func devices(b testing.TB, s *source, name string, joined, every int, measured bool) *lane {
	b.Helper()
	l := newLane(s, name, joined, joined)
	clock := newClock()
	policy := ackpolicy.Policy{Kind: ackpolicy.Count, Every: every}
	var o client.Taker = unmeasured{}
	if measured {
		obs := perfObserver(b, policy)
		o = obs
		l.before = func(from, to int) {
			for k := from; k < to; k++ {
				obs.msgs.intended[0][k] = clock.now()
				obs.msgs.sent[0][k].Store(int64(clock.now()))
				obs.ledger.OnSend(0, k)
				obs.ledger.OnAccepted(0, k, 1, uint64(k+1))
			}
		}
	}
	seen := make([]int64, crowd)
	fleet, err := client.NewFleet(client.Config{
		Clock: clock.now, Observer: counting{o, seen}, Ack: policy,
		Driver: &client.WebSocket{
			URL: "ws://" + s.addr + "/" + name, Clock: clock.now,
			Dial: func(ctx context.Context, id client.Identity, _ string) (net.Conn, error) {
				c, err := l.dial(ctx)
				if err != nil {
					return nil, err
				}
				return &told{gated: c, lane: l, seen: &seen[id.Index]}, nil
			},
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	for i := range crowd {
		d := fleet.Device(client.Identity{Index: i, User: fmt.Sprintf("u%d", i)})
		if err := d.Start(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(d.Crash)
	}
	return l
}
