package client

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// friends is whose messages are still to be pulled from an inbox, one request
// for each.
type friends struct {
	listing bool     // the list, or the rest of it, is still to be asked for
	last    string   // the last name of the list so far
	names   []string // of the list so far; the first is the one to ask for
	after   uint64   // everything of the first name's up to it was taken
}

// askList tells whether names are what is to be asked for next.
func (f *friends) askList() bool { return f.listing && len(f.names) == 0 }

// follow moves on past a page of the first name's messages.
func (f *friends) follow(p *Page) (more bool) {
	if p.More && p.UpTo > f.after {
		f.after = p.UpTo
		return true
	}
	f.names, f.after = f.names[1:], 0
	return len(f.names) > 0 || f.listing
}

// askList asks for the friend list, or for counts by friend.
func (d *Device) askList(b *backlog, now time.Duration) {
	ref := d.await(&b.ask, now)
	if b.kind == byCount {
		d.sess.Counts(ref, true)
		return
	}
	d.sess.Friends(ref, b.friends.last, friendsPage)
}

// OnFriends takes in the friend list, or a part of it, and begins to pull what
// they have sent.
func (l link) OnFriends(now time.Duration, f *Friends) {
	d := l.d
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.listed(f.Ref, f.Bytes)
	if c == nil {
		return
	}
	list := &c.backlog.friends
	list.names = slices.Clone(f.Friends)
	if n := len(list.names); n > 0 {
		list.last = list.names[n-1]
	}
	list.listing = f.More && len(f.Friends) > 0
	d.pullFriends(c, now)
}

// OnCounts takes in how much waits of whom, and begins to pull from the friends
// that are opened.
func (l link) OnCounts(now time.Duration, counts *Counts) {
	d := l.d
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.listed(counts.Ref, counts.Bytes)
	if c == nil {
		return
	}
	list := &c.backlog.friends
	for _, n := range counts.Counts {
		if n.Sender != "" && n.Unread > 0 && n.Conversation == c.name {
			list.names = append(list.names, n.Sender)
		}
	}
	slices.Sort(list.names)
	list.names = choose(list.names, d.cfg.Pull.Open, d.cfg.Seed, d.id.Index)
	list.listing = false
	d.pullFriends(c, now)
}

// listed returns the inbox that names were asked for with a ref.
func (d *Device) listed(ref uint64, bytes int) *conversation {
	if d.closing || !d.up {
		return nil
	}
	for _, c := range d.all {
		if b := c.backlog; b != nil && b.answers(ref) && b.friends.askList() {
			b.tries = 0
			d.answered(bytes)
			return c
		}
	}
	return nil
}

func (d *Device) pullFriends(c *conversation, now time.Duration) {
	if len(c.backlog.friends.names) == 0 {
		d.endBacklog(c, now)
		return
	}
	d.askBacklog(c, now)
}

// choose returns the share of names that a device opens, rounded to a whole
// number of them: always the same ones for the same seed, device and number of
// names, whatever the names are.
func choose[T cmp.Ordered](names []T, share float64, seed uint64, dev int) []T {
	n := int(math.Round(share * float64(len(names))))
	rng := rand.New(rand.NewPCG(seed, uint64(dev)+chooseStream))
	for i := range n { // Fisher and Yates, as far as it is needed
		j := i + rng.IntN(len(names)-i)
		names[i], names[j] = names[j], names[i]
	}
	return names[:n]
}

// chooseStream keeps choices apart from the other random numbers of a device.
const chooseStream = 1 << 40
