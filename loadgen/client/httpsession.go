package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ackmark/refserver/wire"
)

// httpSession is one device's requests to an HTTP server. What is queued is
// taken by up to parallel lanes, each a goroutine for as long as there is
// something to do; Serve hands their answers to the Handler, one by one.
type httpSession struct {
	driver *HTTP
	id     Identity
	hello  Hello
	h      Handler
	clock  func() time.Duration
	host   string
	tls    bool

	poll, timeout                 time.Duration
	parallel, maxAnswer, maxQueue int

	ctx      context.Context // ends with the session; its cause says why
	cancel   context.CancelCauseFunc
	count    counter
	requests atomic.Uint64
	polls    atomic.Uint64
	ackBytes atomic.Uint64
	wakeups  atomic.Uint64

	answers chan answer
	ended   chan struct{} // closed when nothing is to be served any more
	served  chan struct{} // closed when Serve has returned
	lanes   sync.WaitGroup

	mu      sync.Mutex // guards all below
	welcome *Welcome   // until Serve hands it on
	queue   []*request
	busy    int     // lanes at work
	idle    []*lane // others, the last used last
	pending int     // requests that are queued, under way, or not handed on
	closing bool
	over    bool // ended is closed
	err     error
	places  map[string]*place
	timer   *time.Timer // of the next poll
}

// answer is what one request came to.
type answer struct {
	request *request
	hand    func() // to the Handler
	fault   *Fault
	now     time.Duration
}

var (
	_ Session    = (*httpSession)(nil)
	_ Requester  = (*httpSession)(nil)
	_ Meter      = (*httpSession)(nil)
	_ tryFlusher = (*httpSession)(nil)
)

var errClosed = errors.New("the session is closed")

// enqueueLocked takes a request in and begins it, unless all lanes are at work or
// another one about the same conversation is.
func (s *httpSession) enqueueLocked(r *request) {
	if s.closing || s.over {
		return
	}
	if len(s.queue) >= s.maxQueue {
		s.endLocked(errUnsent)
		return
	}
	s.queue = append(s.queue, r)
	s.pending++
	s.beginLocked()
}

// beginLocked sets lanes to work for the requests that may begin.
func (s *httpSession) beginLocked() {
	if s.over {
		return
	}
	for n := len(s.readyLocked(s.parallel - s.busy)); n > 0; n-- {
		l := &lane{session: s}
		if n := len(s.idle); n > 0 {
			l = s.idle[n-1]
			s.idle = s.idle[:n-1]
		}
		s.busy++
		s.lanes.Add(1)
		go s.work(l)
	}
}

// readyLocked returns where in the queue the first requests are that may begin,
// at most so many: none about its conversations is under way, or before it in
// the queue.
func (s *httpSession) readyLocked(most int) (at []int) {
	var waited map[*place]bool // for, by requests before
	for i, r := range s.queue {
		if len(at) >= most {
			break
		}
		free := true
		for _, p := range r.places() {
			free = free && !p.taken && !waited[p]
		}
		if free {
			at = append(at, i)
			continue
		}
		if waited == nil {
			waited = map[*place]bool{}
		}
		for _, p := range r.places() {
			waited[p] = true
		}
	}
	return at
}

// takeLocked takes the first request that may begin out of the queue, nil when
// there is none.
func (s *httpSession) takeLocked() *request {
	at := s.readyLocked(1)
	if len(at) == 0 {
		return nil
	}
	r := s.queue[at[0]]
	if at[0] == 0 { // nearly always
		s.queue[0] = nil
		s.queue = s.queue[1:]
	} else {
		s.queue = slices.Delete(s.queue, at[0], at[0]+1)
	}
	for _, p := range r.places() {
		p.taken = true
	}
	return r
}

// work makes one request after the other, until none is left. A lane is idle
// before its last answer is handed on, so that what this gives rise to finds it.
func (s *httpSession) work(l *lane) {
	defer s.lanes.Done()
	for more := true; more; {
		s.mu.Lock()
		r := s.takeLocked()
		s.mu.Unlock()
		var a answer
		answered := false
		if r != nil {
			a, answered = s.make(l, r)
		}
		s.mu.Lock()
		if more = r != nil && len(s.readyLocked(1)) > 0; !more {
			s.rest(l)
		}
		s.mu.Unlock()
		if answered {
			select {
			case s.answers <- a:
			case <-s.ended:
			}
		}
	}
}

// rest makes a lane idle; without a connection there is nothing to keep of it.
func (s *httpSession) rest(l *lane) {
	s.busy--
	switch {
	case s.over:
		l.close()
	case l.conn != nil:
		s.idle = append(s.idle, l)
	}
}

// make makes one request. What isn't an answer of the server's ends the session.
func (s *httpSession) make(l *lane, r *request) (a answer, ok bool) {
	ctx, cancel := context.WithTimeout(s.ctx, s.timeout)
	defer cancel()
	a.request = r
	err := l.do(ctx, r, func(status int, body []byte) (err error) {
		a.now = s.clock()
		if !r.ack {
			s.wakeups.Add(1)
		}
		var none struct{}
		if status != 200 {
			a.fault, err = answered(status, body, &none)
			return err
		}
		if r.take != nil {
			a.hand, err = r.take(body, a.now)
		}
		return err
	})
	if errors.Is(err, errTimeout) { // it may have been done; the device asks again
		a.now = s.clock()
		a.fault = &Fault{
			Code: string(wire.CodeUnavailable), Retryable: true,
			Message: fmt.Sprintf("%s %s: no answer within %v", r.method, r.path, s.timeout),
		}
	} else if err != nil {
		s.fail(err)
		return a, false
	}
	if a.fault != nil {
		a.fault.Ref = r.ref
	}
	return a, true
}

// Serve hands on the welcome and all answers, and polls, until the session ends.
func (s *httpSession) Serve() error {
	defer close(s.served)
	defer s.lanes.Wait()
	s.mu.Lock()
	welcome := s.welcome
	s.welcome = nil
	s.mu.Unlock()
	s.h.OnWelcome(s.clock(), welcome)
	s.startPolls()
	for {
		select {
		case a := <-s.answers:
			s.hand(&a)
		case <-s.ended:
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.err
		}
	}
}

func (s *httpSession) hand(a *answer) {
	switch {
	case a.fault != nil && a.request.poll != nil:
		s.pollFault(a)
	case a.fault != nil:
		s.h.OnFault(a.now, a.fault)
	case a.hand != nil:
		a.hand()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range a.request.pulls {
		p.pulling--
	}
	for _, p := range a.request.places() {
		p.taken = false
	}
	s.pending--
	s.beginLocked()
	if s.closing && s.pending == 0 {
		s.endLocked(errClosed)
	}
}

// Flush has nothing to do: requests begin when they are queued.
func (s *httpSession) Flush() {}

// TryFlush has nothing to do either.
func (s *httpSession) TryFlush() bool { return true }

// Close waits until everything that is queued has been answered.
func (s *httpSession) Close(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { s.fail(context.Cause(ctx)) })()
	s.mu.Lock()
	late := s.over
	s.closing = true
	s.stopPolls()
	if s.pending == 0 {
		s.endLocked(errClosed)
	}
	s.mu.Unlock()
	<-s.served
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !errors.Is(s.err, errClosed):
		return s.err
	case late:
		return errClosedFirst
	}
	return nil
}

// Abort breaks all connections.
func (s *httpSession) Abort() { s.fail(errAborted) }

func (s *httpSession) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLocked(err)
}

// endLocked ends the session, unless it has ended.
func (s *httpSession) endLocked(err error) {
	if s.over {
		return
	}
	s.over, s.err = true, err
	s.stopPolls()
	s.queue = nil
	s.cancel(err) // breaks what is under way
	for _, l := range s.idle {
		l.close()
	}
	s.idle = nil
	close(s.ended)
}

// Bytes returns what went over all connections.
func (s *httpSession) Bytes() (read, written uint64) {
	return s.count.read.Load(), s.count.written.Load()
}
