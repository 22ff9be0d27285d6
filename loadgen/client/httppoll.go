package client

import (
	"errors"
	"math"
	"net/http"
	"strings"
	"time"

	"ackmark/refserver/wire"
)

// place is where a session stands in one conversation.
type place struct {
	Standing
	pos     uint64 // everything up to it was handed on, or isn't for this session
	live    bool   // polled; else a page has to reach the head first, or it is closed
	polling bool   // a poll is queued or under way
	pulling int    // requests of the device's own are queued or under way
	taken   bool   // one of them is under way, or its answer isn't handed on yet
}

func isGroup(conversation string) bool { return strings.HasPrefix(conversation, "g:") }

// welcomed takes in the answer to hello. Over HTTP the server knows of no
// session: what is live, closed or behind is the client's own affair, and no
// window bounds what is unacked.
func (s *httpSession) welcomed(w *wire.Welcome) {
	resumed := map[string]Position{}
	for _, p := range s.hello.Resume {
		resumed[p.Conversation] = p
	}
	s.welcome = welcomeOf(w)
	s.welcome.Window = 0
	for i := range s.welcome.Conversations {
		st := &s.welcome.Conversations[i]
		st.CountOnly = s.hello.Closed && isGroup(st.Conversation)
		pos := st.Cursor
		if r, ok := resumed[st.Conversation]; ok && r.Epoch == st.Epoch {
			pos = max(pos, r.Cursor)
		}
		p := &place{Standing: *st, pos: pos}
		p.start(s.hello.Live)
		st.Behind = p.Behind
		s.places[st.Conversation] = p
	}
}

// start makes a conversation live, unless it is closed or something waits below
// its head that is to be pulled first.
func (p *place) start(live bool) {
	if live {
		p.pos = max(p.pos, p.Head)
	}
	p.live = !p.CountOnly && p.pos >= p.Head
	p.Behind = !p.CountOnly && !p.live
}

// Open makes a conversation live. It asks for counts, since messages may have
// come while it was closed: like a frame, that is one request.
func (s *httpSession) Open(ref uint64, conversation string) {
	call(s, http.MethodGet, "/v1/counts", ref, nil, func(out *wire.Counts, _ int, now time.Duration) {
		for _, n := range out.Counts {
			if n.GetConversation() == conversation && n.Sender == "" {
				s.opened(ref, n, out.Epoch, now)
				return
			}
		}
		s.h.OnFault(now, notTheirs(ref, conversation))
	})
}

// opened takes in where a conversation stands that is to be live.
func (s *httpSession) opened(ref uint64, n *wire.Count, epoch uint64, now time.Duration) {
	s.mu.Lock()
	p := s.places[n.Conversation]
	switch {
	case p == nil: // joined since
		p = &place{Standing: Standing{Conversation: n.Conversation, Epoch: epoch}}
		s.places[n.Conversation] = p
	case p.Epoch != epoch: // only hello tells how far back it goes
		s.endLocked(errNewEpoch)
		s.mu.Unlock()
		return
	}
	p.CountOnly, p.Cursor, p.Head = false, max(p.Cursor, n.Cursor), max(p.Head, n.Head)
	p.pos = max(p.pos, p.Cursor)
	p.start(s.hello.Live)
	st := p.Standing
	s.mu.Unlock()
	st.Ref = ref
	s.h.OnConversation(now, &st)
}

var errNewEpoch = errors.New("the store has begun a new epoch; connect again")

func notTheirs(ref uint64, conversation string) *Fault {
	return &Fault{Ref: ref, Code: string(wire.CodeNotMember), Message: "no conversation of this user's", Conversation: conversation}
}

// CloseConversation ends polling for a conversation. The answer is the
// session's own and takes no request.
func (s *httpSession) CloseConversation(ref uint64, conversation string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing || s.over {
		return
	}
	a := answer{request: &request{ref: ref}, now: s.clock()}
	if p := s.places[conversation]; p == nil {
		a.fault = notTheirs(ref, conversation)
	} else {
		p.CountOnly, p.Behind, p.live = true, false, false
		st := p.Standing
		st.Ref = ref
		a.hand = func() { s.h.OnConversation(a.now, &st) }
	}
	s.pending++
	s.lanes.Add(1)
	go func() { // the caller may be Serve's own goroutine
		defer s.lanes.Done()
		select {
		case s.answers <- a:
		case <-s.ended:
		}
	}()
}

// pulling notes that the device pulls conversations itself, which until then
// aren't polled.
func (s *httpSession) pulling(which func(name string) bool) (all []*place) {
	for name, p := range s.places {
		if which(name) {
			p.pulling++
			all = append(all, p)
		}
	}
	return all
}

// pulled takes in what a page of the device's own pulling covers. One that
// reaches the head makes its conversation live.
func (s *httpSession) pulled(name string, page *wire.Page, newest bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.places[name]
	if p == nil || page.Sender != "" {
		return
	}
	if page.Epoch > p.Epoch {
		p.Epoch, p.pos, p.live = page.Epoch, page.After, false
	}
	if page.Epoch < p.Epoch {
		return
	}
	p.Head = max(p.Head, page.Head)
	if page.After <= p.pos || newest && p.live {
		p.pos = max(p.pos, page.UpTo)
	}
	if !p.CountOnly && p.pos >= page.Head {
		p.live, p.Behind = true, false
	}
}

// startPolls spreads the devices' polls over the interval.
func (s *httpSession) startPolls() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing || s.over {
		return
	}
	const golden = 0.6180339887498949
	_, turn := math.Modf(golden * float64(s.id.Index))
	first := time.Duration(float64(s.poll) * turn)
	s.timer = time.AfterFunc(first, s.polled)
}

func (s *httpSession) stopPolls() {
	if s.timer != nil {
		s.timer.Stop()
	}
}

// polled polls every live conversation that isn't being polled or pulled: where
// pulls remove, two answers of one conversation that overtake each other would
// tell the device that nothing is where the other has messages.
func (s *httpSession) polled() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing || s.over {
		return
	}
	s.timer.Reset(s.poll)
	for _, p := range s.places {
		if p.live && !p.polling && p.pulling == 0 {
			s.pollLocked(p)
		}
	}
}

func (s *httpSession) pollLocked(p *place) {
	p.polling = true
	in := &wire.PageRequest{Conversation: p.Conversation, Epoch: p.Epoch, After: p.pos}
	r := &request{method: http.MethodPost, path: "/v1/pull", poll: p}
	callLocked(s, r, in, func(out *wire.Page, _ int, now time.Duration) { s.news(p, out, now) })
}

// news hands on what a poll brought, as deliveries. All of it, whatever else is
// known by then: the server may have it no more. What the device has already is
// for its dedup to tell.
func (s *httpSession) news(p *place, page *wire.Page, now time.Duration) {
	s.mu.Lock()
	p.polling = false
	if page.Epoch > p.Epoch || page.Epoch == p.Epoch && page.UpTo > p.pos {
		p.Epoch, p.pos, p.Head = page.Epoch, page.UpTo, max(page.Head, page.UpTo)
		if page.More && p.live && p.pulling == 0 {
			s.pollLocked(p)
		}
	}
	s.mu.Unlock()
	d := Delivery{Conversation: []byte(page.Conversation), Epoch: page.Epoch}
	for _, m := range page.Messages {
		if m == nil {
			continue
		}
		d.Sender, d.ClientMsgID, d.Body = []byte(m.Sender), []byte(m.ClientMsgId), []byte(m.Body)
		d.Seq, d.TimeMS = m.Seq, m.TimeMs
		s.h.OnDelivery(now, &d)
	}
}

// pollFault takes in that a poll was refused. For the moment: the next one will
// tell. For good: that ends polling for a conversation that isn't the user's
// any more, and the session for any other reason.
func (s *httpSession) pollFault(a *answer) {
	s.mu.Lock()
	a.request.poll.polling = false
	if !a.fault.Retryable {
		switch wire.Code(a.fault.Code) {
		case wire.CodeNotMember, wire.CodeNoSuchGroup:
			a.request.poll.live = false
		default:
			s.endLocked(a.fault)
		}
	}
	s.mu.Unlock()
	s.h.OnFault(a.now, a.fault)
}
