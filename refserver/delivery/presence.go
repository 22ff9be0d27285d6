package delivery

import (
	"context"
	"sync"
	"time"
)

// How presence is kept in the store.
const (
	presenceFor   = time.Minute // how long a user counts as online without being noted again
	presenceEvery = presenceFor / 3
	presenceJoin  = 5 * time.Millisecond // how long who comes and goes gathers
)

// presence notes in the store who is online here, for designs that look it up
// with each send. A user is noted as it comes and goes, and again before the
// note expires; one that a killed server has left behind expires.
type presence struct {
	s    *Service
	wake chan struct{} // capacity 1: something is dirty

	mu       sync.Mutex
	sessions map[string]*Session // guarded by mu: the newest of each user
	dirty    map[string]struct{} // guarded by mu: users that came or went
}

func newPresence(s *Service) *presence {
	return &presence{
		s: s, wake: make(chan struct{}, 1),
		sessions: make(map[string]*Session), dirty: make(map[string]struct{}),
	}
}

// needed says whether sends look presence up.
func (p *presence) needed() bool { return p.s.cfg.StoreFor == StoreForOffline && p.s.design.partial() }

// came notes that a session has begun, went that it has ended.
func (p *presence) came(ss *Session) {
	if !p.needed() {
		return
	}
	p.mu.Lock()
	p.sessions[ss.user] = ss
	p.dirty[ss.user] = struct{}{}
	p.mu.Unlock()
	p.signal()
}

func (p *presence) went(ss *Session) {
	if !p.needed() {
		return
	}
	p.mu.Lock()
	mine := p.sessions[ss.user] == ss
	if mine {
		delete(p.sessions, ss.user)
		p.dirty[ss.user] = struct{}{}
	}
	p.mu.Unlock()
	if mine {
		p.signal()
	}
}

func (p *presence) signal() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run writes until ctx ends, and then that nobody is online any more, within
// the time of one write.
func (p *presence) run(ctx context.Context) {
	again := time.NewTicker(presenceEvery)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			p.mu.Lock()
			for user := range p.sessions {
				p.dirty[user] = struct{}{}
			}
			clear(p.sessions)
			p.mu.Unlock()
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			p.write(last)
			cancel()
			return
		case <-again.C:
			p.mu.Lock()
			for user := range p.sessions {
				p.dirty[user] = struct{}{}
			}
			p.mu.Unlock()
		case <-p.wake:
			gather := time.NewTimer(presenceJoin)
			select {
			case <-gather.C:
			case <-ctx.Done():
				gather.Stop()
				p.signal()
				continue
			}
		}
		p.write(ctx)
	}
}

// write tells the store of who came and went, with a command each at most.
// What fails is tried with the next round.
func (p *presence) write(ctx context.Context) {
	p.mu.Lock()
	var here, gone []string
	for user := range p.dirty {
		if p.sessions[user] != nil {
			here = append(here, user)
		} else {
			gone = append(gone, user)
		}
	}
	clear(p.dirty)
	p.mu.Unlock()
	var err error
	if len(here) > 0 {
		err = p.s.store.Present(ctx, here, time.Now().Add(presenceFor).UnixMilli())
	}
	if len(gone) > 0 && err == nil {
		err = p.s.store.Absent(ctx, gone)
	}
	if err != nil {
		p.s.log.Warn("presence can't be stored, it is tried again", "error", err)
		p.mu.Lock()
		for _, user := range append(here, gone...) {
			p.dirty[user] = struct{}{}
		}
		p.mu.Unlock()
	}
}
