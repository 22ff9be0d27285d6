package delivery

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

// pending is who waits for the answer to a send.
type pending struct {
	ref     uint64
	session *Session           // over WebSocket
	done    chan<- *sendAnswer // over HTTP
	origin  *push.Conn         // session's connection
}

type sendAnswer struct {
	result *wire.SendResult
	err    error
}

// Send stores a message and returns once it is stored.
func (s *Service) Send(ctx context.Context, user string, m *wire.Send) (*wire.SendResult, error) {
	done := make(chan *sendAnswer, 1)
	err := s.append(ctx, user, m.To, m.ClientMsgId, m.Body, &pending{ref: m.Ref, done: done})
	if err != nil {
		s.stats.refused.Add(1)
		return nil, err
	}
	select {
	case a := <-done:
		return a.result, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// append checks a send and queues it for the store.
func (s *Service) append(ctx context.Context, user, to, clientMsgID, body string, p *pending) error {
	if err := wire.CheckClientMsgID(clientMsgID); err != nil {
		return err
	}
	if len(body) > s.cfg.MaxBody {
		return wire.Faultf(wire.CodeTooLarge, "body has %d bytes, at most %d are taken", len(body), s.cfg.MaxBody)
	}
	if !utf8.ValidString(body) {
		return wire.Faultf(wire.CodeBadRequest, "body is not UTF-8; encode binary data, as base64 for instance")
	}
	if to == wire.Inbox(user) {
		return wire.Faultf(wire.CodeBadRequest, "a direct message to oneself; name another user")
	}
	c, err := s.open(ctx, to)
	if err != nil {
		return err
	}
	now := time.Now()
	return s.store.Append(&Append{
		Conversation: to,
		Sender:       user,
		ClientMsgID:  clientMsgID,
		Record:       wire.AppendRecord(nil, user, clientMsgID, body, now.UnixMilli()),
		Deadline:     now.Add(s.cfg.SendTimeout),
		Fleeting:     s.pushesTo(c),
		Reply:        p,
	})
}

// Appended brings stored messages to the members that are online and answers
// their senders. Neighbours of one conversation are dispatched together.
func (s *Service) Appended(batch []*Append) {
	for i := 0; i < len(batch); {
		n := 1
		for i+n < len(batch) && batch[i+n].Conversation == batch[i].Conversation {
			n++
		}
		s.stored(batch[i].Conversation, batch[i:i+n])
		i += n
	}
}

func (s *Service) stored(name string, batch []*Append) {
	if strings.HasPrefix(name, "u:") {
		s.directStored(name, batch)
		return
	}
	var conv *conversation
	msgs := make([]push.Message, 0, len(batch))
	for _, a := range batch {
		if a.Err != nil {
			s.refuse(a)
			continue
		}
		if a.Duplicate {
			s.stats.duplicate.Add(1)
		} else {
			s.stats.stored.Add(1)
		}
		if c := s.loaded(name, a.Seq); c != nil && c.epoch == a.Epoch {
			conv = c
		}
		msgs = append(msgs, s.message(a))
	}
	if len(msgs) == 0 {
		return
	}
	if conv == nil { // nobody is online in it here
		for i := range msgs {
			if o := msgs[i].Origin; o != nil {
				o.SendResult(&msgs[i].Result)
			}
		}
		return
	}
	conv.mu.Lock()
	conv.used = time.Now()
	conv.mu.Unlock()
	s.design.stored(conv, batch)
	conv.room.Deliver(msgs)
	s.design.dispatched(conv, batch)
}

// message turns a stored append of a group into what the room dispatches, and answers a
// sender over HTTP. Over WebSocket the room answers, in order.
func (s *Service) message(a *Append) push.Message {
	p := a.Reply.(*pending)
	m := push.Message{Seq: a.Seq, Sender: a.Sender, Record: a.Record, Ahead: s.cfg.StoreFor == StoreForOffline}
	if p.session != nil {
		p.session.inFlight.Add(-1)
		m.Origin = p.origin
		m.Result = wire.SendResultView{
			Ref: p.ref, ClientMsgID: []byte(a.ClientMsgID), Conversation: []byte(a.Conversation),
			Epoch: a.Epoch, Seq: a.Seq, Duplicate: a.Duplicate,
		}
	} else {
		p.done <- &sendAnswer{result: &wire.SendResult{
			Ref: p.ref, ClientMsgId: a.ClientMsgID, Conversation: a.Conversation,
			Epoch: a.Epoch, Seq: a.Seq, Duplicate: a.Duplicate,
		}}
	}
	return m
}

func (s *Service) refuse(a *Append) {
	p := a.Reply.(*pending)
	f := wire.AsFault(a.Err)
	if f.Code.Retryable() {
		s.stats.failed.Add(1)
	} else {
		s.stats.refused.Add(1)
	}
	if f.Conversation == "" {
		f = &wire.Fault{Code: f.Code, Message: f.Message, Conversation: a.Conversation}
	}
	if p.session != nil {
		p.session.inFlight.Add(-1)
		p.session.fail(p.ref, f)
		return
	}
	p.done <- &sendAnswer{err: f}
}
