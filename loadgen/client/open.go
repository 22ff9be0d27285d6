package client

import (
	"fmt"
	"slices"
	"time"
)

// opening is a request to open or close a conversation.
type opening struct {
	ask
	name string
	open bool
}

// Open makes a conversation live that the server only counts, and pulls what it
// has missed; it is opened again with each login. Without a connection it is
// opened with the next one.
func (d *Device) Open(conversation string) error { return d.setOpen(conversation, true) }

// CloseConversation makes a conversation count-only: its messages are neither
// pushed nor pulled until it is opened.
func (d *Device) CloseConversation(conversation string) error {
	return d.setOpen(conversation, false)
}

func (d *Device) setOpen(conversation string, open bool) error {
	d.mu.Lock()
	c := d.byName[conversation]
	if c == nil || d.closing {
		d.mu.Unlock()
		return fmt.Errorf("device %s: open or close %s: it isn't one of its conversations, or the device is closed", d.id.User, conversation)
	}
	c.opened = open
	if !open { // from now on: the request goes before whatever else is asked for
		c.closed = true
	}
	if d.up {
		d.askOpen(&opening{name: conversation, open: open}, d.cfg.Clock())
	}
	sess := d.sess
	d.mu.Unlock()
	if sess != nil {
		sess.Flush()
	}
	return nil
}

func (d *Device) askOpen(o *opening, now time.Duration) {
	if !slices.Contains(d.openings, o) {
		d.openings = append(d.openings, o)
	}
	ref := d.await(&o.ask, now)
	if o.open {
		d.sess.Open(ref, o.name)
	} else {
		d.sess.CloseConversation(ref, o.name)
	}
}

// openGroups opens, at login, the groups that are wanted open; which ones is
// chosen at the first.
func (d *Device) openGroups(all []Standing, now time.Duration) {
	if d.cfg.Pull.Groups != OnDemand {
		return
	}
	var closed []string
	for i := range all {
		if all[i].CountOnly {
			closed = append(closed, all[i].Conversation)
		}
	}
	slices.Sort(closed)
	if !d.chosen {
		d.chosen = true
		for _, name := range choose(slices.Clone(closed), d.cfg.Pull.Open, d.cfg.Seed, d.id.Index) {
			d.byName[name].opened = true
		}
	}
	for _, name := range closed {
		if d.byName[name].opened {
			d.askOpen(&opening{name: name, open: true}, now)
		}
	}
}

// OnConversation takes in that a conversation was opened or closed.
func (l link) OnConversation(now time.Duration, s *Standing) {
	d := l.d
	d.mu.Lock()
	defer d.mu.Unlock()
	i := d.opens(s.Ref)
	if d.closing || !d.up || i < 0 {
		return
	}
	d.openings = slices.Delete(d.openings, i, i+1)
	known := d.byName[s.Conversation]
	if known != nil && s.Epoch < known.epoch { // said before the epoch changed
		d.pump(now)
		return
	}
	open := known != nil && !known.closed // already, or being pulled since it was
	c := d.stood(s)
	switch {
	case c.closed:
		c.high, c.gapDue = c.mark, 0
		d.settle(c)
	case open || c.backlog != nil:
		if c.high = max(c.high, s.Head); c.high > c.mark {
			d.pullFrom(c, c.mark)
		}
	default:
		d.catchUp(c, s, c.mark, now)
	}
	d.pump(now)
}

// opens returns the index of the request to open or close with a ref, or -1.
func (d *Device) opens(ref uint64) int {
	return slices.IndexFunc(d.openings, func(o *opening) bool { return o.answers(ref) })
}

func (d *Device) openTimeouts(now time.Duration) {
	for _, o := range d.openings {
		if o.late(now) && d.up {
			d.askOpen(o, now)
		}
	}
}

func (d *Device) openFault(i int, f *Fault, now time.Duration) {
	if !d.retry(&d.openings[i].ask, f, now) {
		d.openings = slices.Delete(d.openings, i, i+1)
		d.pump(now)
	}
}
