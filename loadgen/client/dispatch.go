package client

import (
	"fmt"

	"ackmark/refserver/wire"
)

// dispatch decodes one frame and hands it to the Handler.
func (s *wsSession) dispatch(payload []byte) error {
	if s.in.pushed = decodeDelivery(payload, &s.delivery, s.last); s.in.pushed {
		if string(s.delivery.Conversation) != s.last {
			s.last = string(s.delivery.Conversation)
		}
		s.h.OnDelivery(s.now, &s.delivery)
		return nil
	}
	if len(payload) > 0 && hasView(payload[0]) {
		return s.general(payload)
	}
	return apart(func() error { return s.general(payload) }) // the generated code needs 8 KiB
}

// hasView tells from its first byte whether a frame is of a kind that is
// decoded without the generated code, unless it begins with an unknown field.
func hasView(tag byte) bool {
	switch tag {
	case tagDeliver, byte(wire.FrameSendResult)<<3 | 2, byte(wire.FramePage)<<3 | 2:
		return true
	}
	return false
}

// general is dispatch for all that isn't a delivery in the usual form.
func (s *wsSession) general(payload []byte) error {
	view, _ := s.driver.views.Get().(*wire.View) // an idle connection has none
	if view == nil {
		view = new(wire.View)
	}
	defer func() {
		*view = wire.View{} // it refers to the payload
		s.driver.views.Put(view)
	}()
	if err := view.Decode(payload); err != nil {
		return err
	}
	switch view.Kind {
	case wire.FrameDeliver:
		s.h.OnDelivery(s.now, (*Delivery)(&view.Deliver))
		return nil
	case wire.FrameSendResult:
		r := &view.SendResult
		s.h.OnAnswer(s.now, &Answer{
			Ref: r.Ref, Conversation: r.Conversation, Epoch: r.Epoch, Seq: r.Seq, Duplicate: r.Duplicate, Offline: r.Offline,
		})
		return nil
	case wire.FramePage:
		s.page(&view.Page, len(payload))
		return nil
	}
	f, err := view.Frame()
	if err != nil {
		return err
	}
	switch view.Kind {
	case wire.FrameWelcome:
		s.h.OnWelcome(s.now, welcomeOf(f.Welcome))
	case wire.FramePullNow:
		p := f.PullNow
		s.h.OnPullNow(s.now, &PullNow{Conversation: []byte(p.Conversation), Epoch: p.Epoch, Head: p.Head})
	case wire.FrameError:
		s.h.OnFault(s.now, faultOf(f.Error))
	case wire.FrameCounts:
		s.h.OnCounts(s.now, countsOf(f.Counts, len(payload)))
	case wire.FrameFriends:
		s.h.OnFriends(s.now, friendsOf(f.Friends, len(payload)))
	case wire.FrameConversation:
		c := standingOf(f.Conversation)
		s.h.OnConversation(s.now, &c)
	case wire.FrameSync:
		s.h.OnSyncPages(s.now, syncOf(f.Sync, len(payload)))
	case wire.FrameAckResult: // a device's acks ask for none
	default:
		return wire.Faultf(wire.CodeBadRequest, "a server doesn't send frame %v", view.Kind)
	}
	return nil
}

func (s *wsSession) page(p *wire.PageView, bytes int) {
	s.h.OnPage(s.now, &Page{
		Ref: p.Ref, Conversation: p.Conversation, Sender: p.Sender, Epoch: p.Epoch, After: p.After, UpTo: p.UpTo, Head: p.Head,
		More: p.More, Truncated: p.Truncated, Count: p.Count, Bytes: bytes,
		Messages: func(yield func(*Delivery) error) error {
			err := p.Messages(func(m *wire.DeliverView) error { return yield((*Delivery)(m)) })
			if err != nil {
				return fmt.Errorf("page after %d: %w", p.After, err)
			}
			return nil
		},
	})
}
