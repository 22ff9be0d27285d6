package client

import "ackmark/refserver/wire"

// What follows turns the reference server's schema into the device's words, for
// both of its drivers.

// States of a conversation in the schema.
const (
	stateBehind    = "behind"
	stateCountOnly = "count-only"
)

func welcomeOf(w *wire.Welcome) *Welcome {
	out := &Welcome{Window: int(w.Window), Conversations: make([]Standing, 0, len(w.Conversations))}
	for _, c := range w.Conversations {
		out.Conversations = append(out.Conversations, standingOf(c))
	}
	return out
}

func standingOf(c *wire.Conversation) Standing {
	return Standing{
		Ref: c.Ref, Conversation: c.Conversation, Epoch: c.Epoch, Cursor: c.Cursor, Head: c.Head, Base: c.Base,
		CountOnly: c.State == stateCountOnly, Behind: c.State == stateBehind,
	}
}

func pageOf(p *wire.Page) Page {
	return Page{
		Ref: p.Ref, Conversation: []byte(p.Conversation), Sender: []byte(p.Sender), Epoch: p.Epoch,
		After: p.After, UpTo: p.UpTo, Head: p.Head, More: p.More, Truncated: p.Truncated, Count: len(p.Messages),
		Messages: func(yield func(*Delivery) error) error {
			for _, m := range p.Messages {
				if m == nil { // JSON allows null
					continue
				}
				err := yield(&Delivery{
					Sender: []byte(m.Sender), ClientMsgID: []byte(m.ClientMsgId), Body: []byte(m.Body),
					Seq: m.Seq, TimeMS: m.TimeMs,
				})
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func syncOf(s *wire.Sync, bytes int) *SyncPages {
	out := &SyncPages{Ref: s.Ref, More: s.More, Bytes: bytes, Pages: make([]Page, 0, len(s.Pages))}
	for _, p := range s.Pages {
		out.Pages = append(out.Pages, pageOf(p))
	}
	return out
}

func countsOf(c *wire.Counts, bytes int) *Counts {
	out := &Counts{Ref: c.Ref, Bytes: bytes, Counts: make([]Count, 0, len(c.Counts))}
	for _, n := range c.Counts {
		out.Counts = append(out.Counts, Count{
			Conversation: n.Conversation, Sender: n.Sender, Unread: n.Unread, Cursor: n.Cursor, Head: n.Head,
		})
	}
	return out
}

func friendsOf(f *wire.Friends, bytes int) *Friends {
	return &Friends{Ref: f.Ref, Friends: f.Friends, More: f.More, Bytes: bytes}
}

func faultOf(e *wire.Error) *Fault {
	return &Fault{Ref: e.Ref, Code: e.Code, Message: e.Message, Conversation: e.Conversation, Retryable: e.Retryable}
}

func helloOf(h Hello) *wire.Hello {
	return &wire.Hello{Resume: resumesOf(h.Resume), Window: uint32(h.Window), Live: h.Live, Closed: h.Closed}
}

func resumesOf(at []Position) []*wire.Resume {
	out := make([]*wire.Resume, 0, len(at))
	for _, p := range at {
		out = append(out, &wire.Resume{Conversation: p.Conversation, Epoch: p.Epoch, Cursor: p.Cursor})
	}
	return out
}

func requestOf(r *PullRequest) *wire.PageRequest {
	return &wire.PageRequest{
		Ref: r.Ref, Conversation: r.Conversation, Epoch: r.Epoch, After: r.After, Limit: uint32(r.Limit), Ack: r.Ack,
		Sender: r.Sender, All: r.All, Newest: r.Newest, Before: r.Before, Ids: r.IDs,
	}
}

func syncRequestOf(r *SyncRequest) *wire.SyncRequest {
	return &wire.SyncRequest{Ref: r.Ref, After: resumesOf(r.After), Limit: uint32(r.Limit), Ack: r.Ack}
}
