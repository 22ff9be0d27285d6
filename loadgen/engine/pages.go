package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"sync"
	"time"

	"ackmark/loadgen/measure"
)

// pages adds up the server's counters over a run, through restarts.
type pages struct {
	mu    sync.Mutex // guards what follows
	tally *measure.Tally
	none  bool // a target that gives no counters of ours
}

// errNoCounters is what observing a foreign server gives.
var errNoCounters = errors.New("the target gives no ackmark_ counters")

const pageTimeout = 5 * time.Second

func (r *run) scrape(ctx context.Context) (measure.Metrics, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	return measure.Scrape(ctx, r.http, r.server.URL()+"/metrics")
}

// firstPage begins to count. A server of ours must give its counters; a target
// may be foreign, and the audit is then reduced.
func (r *run) firstPage(ctx context.Context) error {
	p := &r.pages
	p.mu.Lock()
	defer p.mu.Unlock()
	page, err := r.scrape(ctx)
	if err == nil {
		if _, found := page.Sum("ackmark_sends_total"); !found {
			err = errNoCounters
		}
	}
	switch {
	case err == nil:
		p.tally = measure.NewTally(page)
	case r.server.Ours():
		return fmt.Errorf("the server's counters: %w", err)
	default:
		p.none = true
		r.warn("the audit is reduced to what clients saw: %v", err)
	}
	return nil
}

// observePage reads the counters and returns what they rose by since the first
// page; states are as they are now.
func (r *run) observePage(ctx context.Context) (measure.Metrics, error) {
	p := &r.pages
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.none || p.tally == nil {
		return nil, errNoCounters
	}
	page, err := r.scrape(ctx)
	if err != nil {
		return nil, err
	}
	p.tally.Observe(page)
	return maps.Clone(p.tally.Since()), nil
}

// rise is what a counter rose by between two cumulative pages; NaN-free: ok is
// false when either page lacks it.
func rise(before, after measure.Metrics, name string, labels ...string) (float64, bool) {
	b, ok1 := before.Sum(name, labels...)
	a, ok2 := after.Sum(name, labels...)
	return a - b, ok1 && ok2
}

// rises gives what each label value of a counter rose by, those that rose.
func rises(before, after measure.Metrics, name, label string) map[string]int64 {
	out := map[string]int64{}
	for key, s := range after {
		if s.Name != name {
			continue
		}
		if d := s.Value - before[key].Value; d > 0 {
			out[s.Labels[label]] += int64(d)
		}
	}
	return out
}

func ownProcess() (pid int, ended time.Duration) { return os.Getpid(), 0 }
