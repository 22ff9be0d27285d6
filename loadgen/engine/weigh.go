package engine

import (
	"context"
	"runtime/debug"
)

// weighedFrom is the fewest connections whose memory says something: with
// fewer, what the processes grow by anyway outweighs them.
const weighedFrom = 1000

// connectWeighed connects everybody and notes by how much the resident memory
// of generator and server grew per connection. What handshakes left for the
// garbage collector is given back first: it would be collected at some moment
// of the measure phase else, and belongs to no connection.
func (r *run) connectWeighed(ctx context.Context) error {
	debug.FreeOSMemory()
	before, err := r.sampler.Mark(r.clock.now())
	if err != nil {
		return err
	}
	if err := r.connect(ctx); err != nil {
		return err
	}
	for range 3 { // each collection halves a stack that a handshake made large
		debug.FreeOSMemory()
	}
	after, err := r.sampler.Mark(r.clock.now())
	if err != nil {
		return err
	}
	n := r.pop.OnlineCount()
	if n < weighedFrom {
		return nil
	}
	usage, err := r.sampler.Between(before, after)
	if err != nil {
		return err
	}
	for _, u := range usage {
		if u.Role == roleRedis {
			continue
		}
		grown := float64(u.RSSEnd) - float64(u.Series[0].RSS)
		r.out.Metrics.Set(u.Role+"_rss_bytes_per_connection", max(grown, 0)/float64(n))
	}
	return nil
}
