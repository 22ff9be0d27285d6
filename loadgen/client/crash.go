package client

import (
	"fmt"
	"time"
)

// CrashPoint is between which two steps a device dies on purpose.
type CrashPoint uint8

// The crash points.
const (
	// NoCrash is never.
	NoCrash CrashPoint = iota
	// PullAndAck: a page has come; nothing of it has been shown, persisted or
	// acked.
	PullAndAck
	// ReceiveAndAck: live deliveries have been shown and persisted; the ack
	// that is due for them isn't sent. With ack policy none: the first one.
	ReceiveAndAck
	// MidSync: a page that others follow has been shown and persisted; its ack
	// isn't sent. A sync of one page has no middle.
	MidSync
)

var crashPointNames = []string{NoCrash: "off", PullAndAck: "pull-and-ack", ReceiveAndAck: "receive-and-ack", MidSync: "mid-sync"}

// ParseCrashPoint reads "off", "pull-and-ack", "receive-and-ack" or "mid-sync".
func ParseCrashPoint(s string) (CrashPoint, error) {
	if s == crashPointNames[NoCrash] {
		return NoCrash, nil
	}
	return parse[CrashPoint]("crash between", s, crashPointNames)
}

// String returns what ParseCrashPoint reads.
func (p CrashPoint) String() string {
	if int(p) < len(crashPointNames) {
		return crashPointNames[p]
	}
	return fmt.Sprintf("CrashPoint(%d)", uint8(p))
}

// Crashing is where devices die on purpose, and when.
type Crashing struct {
	Point CrashPoint
	// Decide tells whether the device is to crash in this login of it, counted
	// from 1 through all its crashes and reconnections. It crashes the first
	// time that it reaches Point, or not at all where it doesn't.
	Decide func(dev, login int) bool
}

func (c *Crashing) check() error {
	if c.Point > MidSync {
		return fmt.Errorf("%v is no crash point", c.Point)
	}
	if c.Point != NoCrash && c.Decide == nil {
		return fmt.Errorf("crash point %v without Decide, which says who crashes", c.Point)
	}
	return nil
}

// CrashedAt is a crash on purpose.
type CrashedAt struct {
	Login   int // which of the device's
	Point   CrashPoint
	At      time.Duration
	Dropped []Dropped // PullAndAck: the messages of the page, which nobody else was told of
}

// Dropped is a delivery that a crash took before anything was done with it. It
// isn't told as an arrival.
type Dropped struct {
	Conversation string
	Epoch, Seq   uint64
	Sender       string
	ClientMsgID  string
}

// die is a crash on purpose: what was persisted is put aside, and from here on
// nothing is shown, acked or told any more.
func (d *Device) die(now time.Duration, dropped []Dropped) {
	if d.closing {
		return
	}
	d.saved = d.save()
	d.dead, d.closing = true, true
	d.stopTimer()
	d.sess.Abort()
	d.cfg.Observer.OnCrash(d.id.Index, CrashedAt{Login: d.logins, Point: d.armed, At: now, Dropped: dropped})
}

// dropPages crashes between pull and ack where that is due: pages with messages
// have come.
func (d *Device) dropPages(now time.Duration, pages ...Page) bool {
	if d.armed != PullAndAck {
		return false
	}
	var dropped []Dropped
	for i := range pages {
		p := &pages[i]
		// one that can't be read to its end drops what can be read
		_ = p.Messages(func(m *Delivery) error {
			dropped = append(dropped, Dropped{
				Conversation: string(p.Conversation), Epoch: p.Epoch, Seq: m.Seq,
				Sender: string(m.Sender), ClientMsgID: string(m.ClientMsgID),
			})
			return nil
		})
	}
	if len(dropped) == 0 {
		return false
	}
	d.die(now, dropped)
	return true
}

// midSync crashes after a page of n messages where that is due.
func (d *Device) midSync(now time.Duration, n int, more bool) bool {
	if d.armed == MidSync && n > 0 && more {
		d.die(now, nil)
	}
	return d.dead
}
