package client

import (
	"fmt"
	"slices"
	"time"
)

// Message is what a device is to send.
type Message struct {
	To          string // conversation
	ClientMsgID string // the same in every attempt, so that the send is idempotent
	Body        []byte // UTF-8; not changed until the result is told
	Intended    time.Duration
	Tag         uint64 // the caller's own, told back in the result
}

// sending is a send without an answer.
type sending struct {
	Message
	ref      uint64
	attempts int // put on a connection
	tries    int // attempts that were due, connection or not
	sent     time.Duration
	due      time.Duration // timeout of the attempt, or when to make the next
	waiting  bool          // for due, after a retryable error
	code     string        // of the last error
}

// Send queues a message and writes it, if there is a connection; if not, it
// leaves with the next one. The result is told to the Observer, exactly once.
// An error means that the device is closed and nothing was queued.
func (d *Device) Send(m Message) error {
	d.mu.Lock()
	sess, err := d.queueSend(m)
	d.mu.Unlock()
	if sess != nil {
		sess.Flush()
	}
	return err
}

// TrySend is Send for a caller who must not wait. It returns false, and has
// done nothing, where the device is busy or its driver can't write without
// waiting; then Send it from another goroutine. When it returns true and
// flush isn't nil, the message is queued but the connection takes nothing at
// the moment: call flush from another goroutine.
func (d *Device) TrySend(m Message) (queued bool, flush func(), err error) {
	if !d.mu.TryLock() {
		return false, nil, nil
	}
	try, can := d.sess.(tryFlusher)
	if d.sess != nil && !can {
		d.mu.Unlock()
		return false, nil, nil
	}
	_, err = d.queueSend(m)
	d.mu.Unlock()
	if err == nil && can && !try.TryFlush() {
		flush = try.Flush
	}
	return true, flush, err
}

// tryFlusher is a Session that can also write as much as goes without waiting,
// and say whether that was all or somebody else is at it.
type tryFlusher interface {
	Session
	TryFlush() bool
}

// queueSend puts a message on the session that it returns, or keeps it for the
// next one.
func (d *Device) queueSend(m Message) (Session, error) {
	if d.closing {
		return nil, fmt.Errorf("device %s: send %s: the device is closed", d.id.User, m.ClientMsgID)
	}
	d.ref++
	s := &sending{Message: m, ref: d.ref}
	d.sends = append(d.sends, s)
	if c := d.byName[m.To]; c != nil {
		c.unsure++
	}
	d.attempt(s, d.cfg.Clock())
	return d.sess, nil
}

// attempt puts a send on the connection, if there is one. Either way its time
// runs: a send ends after 1 + retries timeouts, whatever the network does.
func (d *Device) attempt(s *sending, now time.Duration) {
	s.tries++
	s.waiting = false
	s.due = now + d.cfg.Send.Timeout
	d.arm(s.due)
	d.put(s, now)
}

func (d *Device) put(s *sending, now time.Duration) {
	if !d.up {
		return
	}
	if s.attempts == 0 {
		s.sent = now
	} else {
		d.stats.Resends++
	}
	s.attempts++
	d.sess.Send(&Outgoing{Ref: s.ref, To: s.To, ClientMsgID: s.ClientMsgID, Body: s.Body})
}

// resend puts everything without an answer on a new connection, in order.
func (d *Device) resend(now time.Duration) {
	for _, s := range d.sends {
		if !s.waiting {
			d.put(s, now)
		}
	}
}

func (d *Device) sendTimeouts(now time.Duration) {
	for i := 0; i < len(d.sends); {
		s := d.sends[i]
		if s.due > now {
			i++
			continue
		}
		if s.tries <= d.cfg.Send.Retries {
			d.attempt(s, now)
			i++
			continue
		}
		d.end(i, now, SendResult{Outcome: Unknown})
	}
}

func (d *Device) giveUpSends(now time.Duration) {
	for len(d.sends) > 0 {
		d.end(0, now, SendResult{Outcome: Unknown})
	}
}

// end tells the result of the i-th send.
func (d *Device) end(i int, now time.Duration, r SendResult) {
	s := d.sends[i]
	d.sends = slices.Delete(d.sends, i, i+1)
	if c := d.byName[s.To]; c != nil && c.unsure > 0 {
		c.unsure--
	}
	r.To, r.ClientMsgID, r.Tag, r.Intended = s.To, s.ClientMsgID, s.Tag, s.Intended
	r.Attempts, r.Sent, r.Answered = s.attempts, s.sent, now
	if r.Outcome == Unknown {
		r.Code = s.code
	}
	d.cfg.Observer.OnSendResult(d.id.Index, r)
}

func (d *Device) find(ref uint64) (int, bool) {
	return slices.BinarySearchFunc(d.sends, ref, func(s *sending, ref uint64) int {
		switch {
		case s.ref < ref:
			return -1
		case s.ref > ref:
			return 1
		}
		return 0
	})
}

// OnAnswer ends a send. An answer that comes twice, or after the send was given
// up, still fills the message's place in the conversation.
func (l link) OnAnswer(now time.Duration, a *Answer) {
	d := l.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if i, ok := d.find(a.Ref); ok {
		d.end(i, now, SendResult{
			Outcome: Accepted, Epoch: a.Epoch, Seq: a.Seq, Duplicate: a.Duplicate, Offline: a.Offline,
		})
	}
	if c := d.byName[string(a.Conversation)]; c != nil && d.up && !d.closing {
		d.own(c, a.Epoch, a.Seq, now)
	}
}

// OnFault takes in an error: of a send, of a pull, or of the connection.
func (l link) OnFault(now time.Duration, f *Fault) {
	d := l.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing {
		return
	}
	d.cfg.Observer.OnFault(d.id.Index, now, *f)
	if f.Ref == 0 {
		if !f.Retryable && (!d.up || f.Code == codeReplaced) {
			fault := *f
			d.fatal = &fault
		}
		return
	}
	if i, ok := d.find(f.Ref); ok {
		d.sendFault(i, f, now)
		return
	}
	if i := d.opens(f.Ref); i >= 0 {
		d.openFault(i, f, now)
		return
	}
	if d.groups.active && d.groups.answers(f.Ref) {
		d.groupsFault(f, now)
		return
	}
	for _, c := range d.all {
		switch {
		case c.pull.active && c.pull.answers(f.Ref):
			d.pullFault(c, f, now)
			return
		case c.backlog != nil && c.backlog.answers(f.Ref):
			d.backlogFault(c, f, now)
			return
		}
	}
}

// codeReplaced ends a session because the user has connected elsewhere.
const codeReplaced = "replaced"

func (d *Device) sendFault(i int, f *Fault, now time.Duration) {
	s := d.sends[i]
	s.code = f.Code
	switch {
	case !f.Retryable:
		d.end(i, now, SendResult{Outcome: Refused, Code: f.Code})
	case s.tries > d.cfg.Send.Retries: // an earlier attempt may have been stored
		d.end(i, now, SendResult{Outcome: Unknown})
	default:
		s.waiting = true
		s.due = now + d.backoff(d.cfg.Send.Backoff, d.cfg.Send.Timeout, s.tries-1)
		d.arm(s.due)
	}
}
