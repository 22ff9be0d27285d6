package delivery

import (
	"sync"
	"time"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

// A direct message to a receiver who is live is pushed and leaves no row, where
// messages are stored for who is offline. Whether the push reached the
// receiver's connection is known once the seq is: if it didn't, the message is
// stored after all, under a seq of its own, and only then its sender is
// answered. A send is fleeting at most once: what was pushed is never pushed
// again under its resend.

// pushesTo says whether a message to c leaves no row, as things stand.
func (s *Service) pushesTo(c *conversation) bool {
	return c.kind == wire.KindInbox && s.cfg.StoreFor == StoreForOffline && c.room.Reaches(receiver(c.name))
}

// receiver is whose inbox it is.
func receiver(inbox string) string { return inbox[len("u:"):] }

// directStored brings direct messages to their receiver, if online, and answers
// their senders.
func (s *Service) directStored(name string, batch []*Append) {
	var conv *conversation
	msgs := make([]push.Message, 0, len(batch))
	for _, a := range batch {
		if a.Err != nil {
			continue
		}
		if c := s.loaded(name, a.Seq); c != nil && c.epoch == a.Epoch {
			conv = c
		}
		msgs = append(msgs, push.Message{Seq: a.Seq, Sender: a.Sender, Record: a.Record})
	}
	if conv != nil {
		conv.mu.Lock()
		conv.used = time.Now()
		conv.mu.Unlock()
		conv.room.Deliver(msgs)
	}
	for _, a := range batch {
		if a.Err != nil {
			if a.Fleeting { // it may have got a seq, and nobody was pushed to
				s.missed.add(a)
			}
			s.refuse(a)
			continue
		}
		if a.Fleeting && !a.Duplicate && conv != nil && conv.epoch == a.Epoch {
			conv.leftNone(a.Seq)
		}
		s.settleDirect(conv, a, msgs[0].Pushed)
		msgs = msgs[1:]
	}
}

// settleDirect answers a send, or stores it after all.
func (s *Service) settleDirect(conv *conversation, a *Append, pushed bool) {
	switch {
	case a.Fleeting && a.Duplicate && s.missed.has(a), a.Fleeting && !a.Duplicate && !pushed:
		s.storeAfterAll(a)
		return
	case pushed && s.cfg.StoreFor == StoreForOffline && s.cfg.Remove == RemoveOnPull && !a.Fleeting:
		// It was stored for who was offline, and reached who has come meanwhile.
		s.acks.addIDs(conv, []uint64{a.Seq}, nil)
	}
	s.missed.remove(a)
	if a.Duplicate {
		s.stats.duplicate.Add(1)
	} else {
		s.stats.stored.Add(1)
	}
	a.Reply.(*pending).stored(a, s.waits(a, pushed))
}

// storeAfterAll stores what was to be pushed only and has missed its receiver.
func (s *Service) storeAfterAll(a *Append) {
	s.missed.add(a)
	s.stats.pushesMissed.Add(1)
	again := &Append{
		Conversation: a.Conversation, Sender: a.Sender, ClientMsgID: a.ClientMsgID, Record: a.Record,
		Deadline: time.Now().Add(s.cfg.SendTimeout), Instead: a.Seq, Reply: a.Reply,
	}
	if err := s.store.Append(again); err != nil {
		again.Err = err
		s.refuse(again)
	}
}

// waits says what the sender is told: that the receiver is offline and the
// message waits in the inbox.
func (s *Service) waits(a *Append, pushed bool) bool {
	if s.cfg.StoreFor == StoreForOffline {
		return !a.Fleeting && !pushed
	}
	return s.hub.Online(receiver(a.Conversation)) == nil
}

// stored tells whoever sent a direct message that it is stored, or pushed.
func (p *pending) stored(a *Append, offline bool) {
	if p.session == nil {
		p.done <- &sendAnswer{result: &wire.SendResult{
			Ref: p.ref, ClientMsgId: a.ClientMsgID, Conversation: a.Conversation,
			Epoch: a.Epoch, Seq: a.Seq, Duplicate: a.Duplicate, Offline: offline,
		}}
		return
	}
	p.session.inFlight.Add(-1)
	p.origin.SendResult(&wire.SendResultView{
		Ref: p.ref, ClientMsgID: []byte(a.ClientMsgID), Conversation: []byte(a.Conversation),
		Epoch: a.Epoch, Seq: a.Seq, Duplicate: a.Duplicate, Offline: offline,
	})
}

// maxMissed bounds missedSends; beyond it, as after a crash, a resend is answered
// as a duplicate (doc.go: the price).
const maxMissed = 65536

// missedSends are fleeting sends that missed their receiver, or may have got a
// seq without anybody knowing, and are not known to be stored. A resend of one
// is a duplicate to the store, but must not be answered as if the first had arrived.
type missedSends struct {
	mu  sync.Mutex
	set map[sendKey]struct{} // guarded by mu
}

type sendKey struct{ conversation, sender, clientMsgID string }

func (a *Append) key() sendKey { return sendKey{a.Conversation, a.Sender, a.ClientMsgID} }

func (m *missedSends) add(a *Append) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.set == nil {
		m.set = make(map[sendKey]struct{})
	}
	if len(m.set) < maxMissed {
		m.set[a.key()] = struct{}{}
	}
}

func (m *missedSends) has(a *Append) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.set[a.key()]
	return ok
}

func (m *missedSends) remove(a *Append) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.set, a.key())
}
