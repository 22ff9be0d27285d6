package engine

import (
	"context"
	"sync"

	"ackmark/loadgen/client"
)

// polls is a driver that keeps count of the requests that poll for live
// messages, over all connections of a run.
type polls struct {
	client.Driver

	mu      sync.Mutex // guards what follows
	current map[int]client.Requester
	ended   uint64 // polls of earlier connections
}

func countPolls(d client.Driver) *polls {
	return &polls{Driver: d, current: map[int]client.Requester{}}
}

// Connect connects. A device has one connection after the other.
func (p *polls) Connect(ctx context.Context, id client.Identity, hello client.Hello, h client.Handler) (client.Session, error) {
	s, err := p.Driver.Connect(ctx, id, hello, h)
	if r, ok := s.(client.Requester); ok {
		p.mu.Lock()
		defer p.mu.Unlock()
		if before := p.current[id.Index]; before != nil {
			_, n := before.Requests()
			p.ended += n
		}
		p.current[id.Index] = r
	}
	return s, err
}

// total is the polls so far.
func (p *polls) total() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	sum := p.ended
	for _, r := range p.current {
		_, n := r.Requests()
		sum += n
	}
	return sum
}
