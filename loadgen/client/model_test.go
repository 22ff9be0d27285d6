package client

import (
	"fmt"
	"slices"
	"testing/synctest"

	"ackmark/refserver/wire"
)

const inbox = "u:ann"

// row is one message that a model stores for the device's user.
type row struct {
	seq        uint64
	sender, id string
}

// shelf is one conversation in a model, as one user has it.
type shelf struct {
	name   string
	head   uint64
	base   uint64 // head when the epoch began
	n      int    // messages so far, in all epochs
	rows   []row  // pending for the user, by seq
	state  string
	pushed uint64 // newest that was pushed on this connection
}

// cursor is what a Welcome tells.
func (c *shelf) cursor() uint64 {
	if len(c.rows) > 0 {
		return c.rows[0].seq - 1
	}
	return c.head
}

func (c *shelf) forget(gone func(seq uint64) bool) {
	c.rows = slices.DeleteFunc(c.rows, func(r row) bool { return gone(r.seq) })
}

// model is a server that one device talks to, as the contract describes it.
type model struct {
	epoch   uint64
	friends []string
	shelves []*shelf // by name, the inbox among them
	onPull  bool     // a page removes what it returns
	offline bool     // what is pushed isn't stored
	page    int      // default limit

	requests int // friends, counts, pages, syncs, opens and acks
	removed  []string
	shown    func(id string) bool // for the check that nothing is acked before it is shown
	wrong    string
}

func (m *model) shelf(name string) *shelf {
	i := slices.IndexFunc(m.shelves, func(c *shelf) bool { return c.name == name })
	if i < 0 {
		m.shelves = append(m.shelves, &shelf{name: name})
		i = len(m.shelves) - 1
	}
	return m.shelves[i]
}

// store stores a message, and returns the push of it where the user is there.
// lose is a push that gets lost.
func (m *model) store(name, sender string, up, lose bool) *wire.Frame {
	c := m.shelf(name)
	c.head++
	c.n++
	r := row{c.head, sender, fmt.Sprintf("%s.%d", name, c.n)}
	live := up && c.state == "live" && !lose
	if !m.offline || !live {
		c.rows = append(c.rows, r)
	}
	if !live {
		return nil
	}
	c.pushed = c.head
	return m.push(c, r)
}

func (m *model) push(c *shelf, r row) *wire.Frame {
	d := r.message()
	d.Conversation, d.Epoch = c.name, m.epoch
	return &wire.Frame{Deliver: d}
}

func (r row) message() *wire.Deliver {
	return &wire.Deliver{Seq: r.seq, Sender: r.sender, ClientMsgId: r.id, Body: "hi", TimeMs: 1}
}

func (m *model) welcome(h *wire.Hello) *wire.Frame {
	for _, r := range h.Resume {
		c := m.shelf(r.Conversation)
		m.ackUpTo(c, m.fallBack(c, r.Epoch, r.Cursor))
	}
	w := &wire.Welcome{User: "ann", Epoch: m.epoch, Window: 256, MaxPage: 1000}
	for _, c := range m.shelves {
		c.state = "live"
		switch {
		case h.Closed && c.name != inbox:
			c.state = "count-only"
		case !h.Live && len(c.rows) > 0:
			c.state = "behind"
		}
		w.Conversations = append(w.Conversations, m.standing(c, 0))
	}
	return &wire.Frame{Welcome: w}
}

func (m *model) standing(c *shelf, ref uint64) *wire.Conversation {
	return &wire.Conversation{Ref: ref, Conversation: c.name, Epoch: m.epoch, Cursor: c.cursor(), Head: c.head, Base: c.base, State: c.state}
}

// fallBack is what a seq of some epoch is worth in the present one: of one that
// isn't the epoch before, nobody knows.
func (m *model) fallBack(c *shelf, epoch, seq uint64) uint64 {
	switch epoch {
	case m.epoch:
		return seq
	case m.epoch - 1:
		return min(seq, c.base)
	}
	return min(seq, c.cursor())
}

// cut begins an epoch in which the last n messages of a conversation are gone.
func (m *model) cut(c *shelf, n uint64) {
	m.epoch++
	for _, x := range m.shelves {
		x.base = x.head
	}
	c.head -= min(n, c.head)
	c.base = c.head
	c.forget(func(seq uint64) bool { return seq > c.head })
	c.pushed = min(c.pushed, c.head)
}

func (m *model) ackUpTo(c *shelf, upTo uint64) {
	m.ack(c, func(seq uint64) bool { return seq <= upTo })
}

func (m *model) ack(c *shelf, covers func(seq uint64) bool) {
	for _, r := range c.rows {
		if covers(r.seq) && m.shown != nil && !m.shown(r.id) {
			m.wrong = fmt.Sprintf("%s was acked and not shown", r.id)
		}
	}
	c.forget(covers)
}

// pick returns the page that a request asks for.
func (m *model) pick(c *shelf, r *wire.PageRequest, limit int) *wire.Page {
	after := min(m.fallBack(c, r.Epoch, r.After), c.head)
	p := &wire.Page{Ref: r.Ref, Conversation: c.name, Epoch: m.epoch, After: after, UpTo: c.head, Head: c.head, Sender: r.Sender}
	var found []row
	for _, r2 := range c.rows {
		if r2.seq > after && (r.Before == 0 || r2.seq < r.Before) && (r.Sender == "" || r.Sender == r2.sender) {
			found = append(found, r2)
		}
	}
	if r.Limit > 0 {
		limit = int(r.Limit)
	}
	if n := len(found); !r.All && n > limit {
		p.More = true
		if r.Newest {
			found = found[n-limit:]
			p.After = found[0].seq - 1
		} else {
			found = found[:limit]
			p.UpTo = found[limit-1].seq
		}
	}
	if r.Newest && r.Before > 0 {
		p.UpTo = r.Before - 1
	}
	for _, r := range found {
		p.Messages = append(p.Messages, r.message())
		if m.onPull {
			m.removed = append(m.removed, r.id)
		}
	}
	if m.onPull {
		c.forget(func(seq uint64) bool { return slices.ContainsFunc(found, func(r row) bool { return r.seq == seq }) })
	}
	if c.state == "behind" && p.UpTo == c.head {
		c.state = "live"
	}
	return p
}

// answer answers one frame of the device.
func (m *model) answer(f *wire.Frame) *wire.Frame {
	m.requests++
	switch {
	case f.Send != nil:
		m.requests--
	case f.Ack != nil && f.Ack.Epoch != m.epoch: // of an epoch that is over
	case f.Ack != nil && len(f.Ack.Ids) > 0:
		m.ack(m.shelf(f.Ack.Conversation), func(seq uint64) bool { return slices.Contains(f.Ack.Ids, seq) })
	case f.Ack != nil:
		m.ackUpTo(m.shelf(f.Ack.Conversation), f.Ack.UpTo)
	case f.PageRequest != nil:
		r := f.PageRequest
		c := m.shelf(r.Conversation)
		if r.Ack {
			m.ackUpTo(c, m.fallBack(c, r.Epoch, r.After))
		}
		m.ack(c, func(seq uint64) bool { return r.Epoch == m.epoch && slices.Contains(r.Ids, seq) })
		return &wire.Frame{Page: m.pick(c, r, m.page)}
	case f.SyncRequest != nil:
		return &wire.Frame{Sync: m.sync(f.SyncRequest)}
	case f.FriendsRequest != nil:
		r := f.FriendsRequest
		i, _ := slices.BinarySearch(m.friends, r.After+"\x00")
		rest := m.friends[i:]
		n := min(len(rest), int(r.Limit))
		return &wire.Frame{Friends: &wire.Friends{Ref: r.Ref, Friends: rest[:n], More: n < len(rest)}}
	case f.CountsRequest != nil:
		return &wire.Frame{Counts: m.counts(f.CountsRequest)}
	case f.Open != nil:
		c := m.shelf(f.Open.Conversation)
		if c.state = "live"; c.cursor() < c.head {
			c.state = "behind"
		}
		return &wire.Frame{Conversation: m.standing(c, f.Open.Ref)}
	case f.Close != nil:
		c := m.shelf(f.Close.Conversation)
		c.state = "count-only"
		return &wire.Frame{Conversation: m.standing(c, f.Close.Ref)}
	}
	return nil
}

func (m *model) sync(r *wire.SyncRequest) *wire.Sync {
	s := &wire.Sync{Ref: r.Ref, Epoch: m.epoch}
	left := m.page
	if r.Limit > 0 {
		left = int(r.Limit)
	}
	for _, c := range m.shelves {
		after := c.cursor()
		for _, a := range r.After {
			if a.Conversation == c.name {
				at := m.fallBack(c, a.Epoch, a.Cursor)
				after = max(after, at)
				if r.Ack {
					m.ackUpTo(c, at)
				}
			}
		}
		if c.name == inbox || after >= c.head {
			continue
		}
		if left == 0 {
			s.More = true
			continue
		}
		p := m.pick(c, &wire.PageRequest{Conversation: c.name, Epoch: m.epoch, After: after}, left)
		left -= len(p.Messages)
		s.Pages = append(s.Pages, p)
		s.More = s.More || p.More
	}
	return s
}

func (m *model) counts(r *wire.CountsRequest) *wire.Counts {
	out := &wire.Counts{Ref: r.Ref, Epoch: m.epoch}
	bySender := map[string]uint64{}
	for _, x := range m.shelf(inbox).rows {
		bySender[x.sender]++
	}
	for sender, n := range bySender {
		out.Counts = append(out.Counts, &wire.Count{Conversation: inbox, Sender: sender, Unread: n})
	}
	return out
}

// serve answers everything that the device asks for until it asks no more.
func (m *model) serve(p *peer) {
	for synctest.Wait(); len(p.frames) > 0; synctest.Wait() {
		f, ok := <-p.frames
		if !ok {
			return
		}
		if answer := m.answer(f); answer != nil {
			p.try(answer)
		}
	}
}
