package wire

import (
	"errors"
	"fmt"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// oracle decodes a Frame by the rules in doc.go, slowly and independently of
// the views: the generated code's verdict, the wire types by the schema's
// descriptor, one field at the top.
func oracle(payload []byte) (*Frame, error) {
	f := new(Frame)
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(payload, f); err != nil {
		return nil, err
	}
	n, err := walk(payload, f.ProtoReflect().Descriptor())
	if err != nil {
		return nil, err
	}
	if n != 1 {
		return nil, fmt.Errorf("%d fields", n)
	}
	return f, nil
}

// walk checks wire types and counts occurrences of known fields at the top.
func walk(b []byte, d protoreflect.MessageDescriptor) (known int, err error) {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return 0, protowire.ParseError(n)
		}
		m := protowire.ConsumeFieldValue(num, typ, b[n:])
		if m < 0 {
			return 0, protowire.ParseError(m)
		}
		value := b[n : n+m]
		b = b[n+m:]
		fd := d.Fields().ByNumber(num)
		if fd == nil {
			continue
		}
		known++
		want := protowire.VarintType
		if k := fd.Kind(); k == protoreflect.StringKind || k == protoreflect.MessageKind {
			want = protowire.BytesType
		}
		packed := fd.IsList() && want == protowire.VarintType && typ == protowire.BytesType
		if typ != want && !packed {
			return 0, fmt.Errorf("%s: wire type %d", fd.FullName(), typ)
		}
		if fd.Kind() == protoreflect.MessageKind {
			inner, _ := protowire.ConsumeBytes(value)
			if _, err := walk(inner, fd.Message()); err != nil {
				return 0, err
			}
		}
	}
	return known, nil
}

// viewed builds a Frame from nothing but the view of its kind.
func viewed(v *View) (*Frame, error) {
	switch v.Kind {
	case FrameDeliver:
		return &Frame{Deliver: message(&v.Deliver)}, nil
	case FrameAck:
		a := v.Ack
		return &Frame{Ack: &Ack{Ref: a.Ref, Conversation: string(a.Conversation), Epoch: a.Epoch, UpTo: a.UpTo, Ids: a.IDs}}, nil
	case FrameSend:
		s := v.Send
		return &Frame{Send: &Send{Ref: s.Ref, To: string(s.To), ClientMsgId: string(s.ClientMsgID), Body: string(s.Body)}}, nil
	case FrameSendResult:
		r := v.SendResult
		return &Frame{SendResult: &SendResult{
			Ref: r.Ref, ClientMsgId: string(r.ClientMsgID), Conversation: string(r.Conversation),
			Epoch: r.Epoch, Seq: r.Seq, Duplicate: r.Duplicate, Offline: r.Offline,
		}}, nil
	case FramePage:
		page, err := pageOf(&v.Page)
		return &Frame{Page: page}, err
	case FrameSync:
		sync := &Sync{Ref: v.Sync.Ref, Epoch: v.Sync.Epoch, More: v.Sync.More}
		err := v.Sync.Pages(func(p *PageView) error {
			page, err := pageOf(p)
			sync.Pages = append(sync.Pages, page)
			return err
		})
		if err == nil && len(sync.Pages) != v.Sync.Count {
			return nil, fmt.Errorf("Count is %d, Pages gave %d", v.Sync.Count, len(sync.Pages))
		}
		return &Frame{Sync: sync}, err
	}
	return v.Frame()
}

func pageOf(p *PageView) (*Page, error) {
	page := &Page{
		Ref: p.Ref, Conversation: string(p.Conversation), Epoch: p.Epoch, After: p.After, UpTo: p.UpTo,
		More: p.More, Truncated: p.Truncated, Head: p.Head, Sender: string(p.Sender),
	}
	err := p.Messages(func(d *DeliverView) error {
		page.Messages = append(page.Messages, message(d))
		return nil
	})
	if err == nil && len(page.Messages) != p.Count {
		return nil, fmt.Errorf("Count is %d, Messages gave %d", p.Count, len(page.Messages))
	}
	return page, err
}

func message(d *DeliverView) *Deliver {
	return &Deliver{
		Conversation: string(d.Conversation), Epoch: d.Epoch, Seq: d.Seq, Sender: string(d.Sender),
		ClientMsgId: string(d.ClientMsgID), Body: string(d.Body), TimeMs: d.TimeMS,
	}
}

// differ holds View against the oracle: both refuse, or both see the same.
func differ(t *testing.T, v *View, payload []byte) {
	t.Helper()
	want, wantErr := oracle(payload)
	var got *Frame
	err := v.Decode(payload)
	if (err != nil) != (v.Kind == 0) {
		t.Fatalf("%x: kind %v with error %v", payload, v.Kind, err)
	}
	if err == nil {
		got, err = viewed(v)
	}
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%x: view says %v, oracle %v", payload, err, wantErr)
	}
	if err != nil {
		var f *Fault
		if !errors.As(err, &f) || f.Code != CodeBadRequest || f.Message == "" {
			t.Fatalf("%x: error is %#v, want a bad_request", payload, err)
		}
		// What Decode accepts and Messages or Pages refuses.
		if _, err := v.Frame(); v.Kind != 0 && err == nil {
			t.Fatalf("%x: Messages or Pages refuses what Frame accepts", payload)
		}
		return
	}
	equalFrames(t, got, want)
	full, err := v.Frame()
	if err != nil {
		t.Fatalf("%x: Frame(): %v", payload, err)
	}
	equalFrames(t, full, want)
}

func equalFrames(t *testing.T, got, want *Frame) {
	t.Helper()
	got = proto.CloneOf(got)
	discardUnknown(got.ProtoReflect())
	if !proto.Equal(got, want) {
		t.Fatalf("got  %v\nwant %v", got, want)
	}
}

func discardUnknown(m protoreflect.Message) {
	m.SetUnknown(nil)
	m.Range(func(d protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case d.Kind() != protoreflect.MessageKind:
		case d.IsList():
			for l, i := v.List(), 0; i < l.Len(); i++ {
				discardUnknown(l.Get(i).Message())
			}
		default:
			discardUnknown(v.Message())
		}
		return true
	})
}

// samples has one frame of each kind, every field set.
func samples() []*Frame {
	conv := &Conversation{Ref: 3, Conversation: "g:7", Epoch: 2, Cursor: 5, Head: 9, Base: 1, First: 4, State: "behind"}
	return []*Frame{
		{Hello: &Hello{Resume: []*Resume{{Conversation: "g:7", Epoch: 2, Cursor: 1 << 40}, {}}, Window: 256, Live: true, Closed: true}},
		{Welcome: &Welcome{User: "alice", Epoch: 2, Conversations: []*Conversation{conv}, Window: 256, MaxPage: 1000}},
		{Send: &Send{Ref: 1, To: "g:7", ClientMsgId: "r3.0.152", Body: "grüß dich"}},
		{SendResult: &SendResult{Ref: 1, ClientMsgId: "r3.0.152", Conversation: "g:7", Epoch: 2, Seq: 300, Duplicate: true, Offline: true}},
		{Deliver: &Deliver{Conversation: "g:7", Epoch: 2, Seq: 300, Sender: "bob", ClientMsgId: "x", Body: "hello", TimeMs: 1765000000000}},
		{Ack: &Ack{Ref: 4, Conversation: "u:alice", Epoch: 2, UpTo: 7, Ids: []uint64{1, 200, 1 << 52}}},
		{AckResult: &AckResult{Ref: 4, Conversation: "g:7", Epoch: 2, Cursor: 300}},
		{PageRequest: &PageRequest{
			Ref: 5, Conversation: "u:alice", Epoch: 2, After: 10, Limit: 100, Ack: true,
			Sender: "bob", All: true, Newest: true, Before: 300, Ids: []uint64{1, 200, 1 << 52},
		}},
		{Page: &Page{
			Ref: 5, Conversation: "g:7", Epoch: 2, After: 10, UpTo: 13, More: true, Truncated: true, Head: 99, Sender: "bob",
			Messages: []*Deliver{{Seq: 11, Sender: "bob", ClientMsgId: "x", Body: "one", TimeMs: -1}, {Seq: 13, Sender: "eve", Body: "two"}},
		}},
		{CountsRequest: &CountsRequest{Ref: 6, Senders: true}},
		{Counts: &Counts{Ref: 6, Epoch: 2, Counts: []*Count{{Conversation: "g:7", Unread: 3, Cursor: 6, Head: 9}, {Conversation: "u:alice", Unread: 2, Sender: "bob"}}}},
		{FriendsRequest: &FriendsRequest{Ref: 7, After: "bob", Limit: 10}},
		{Friends: &Friends{Ref: 7, Friends: []string{"carol", "dave"}, More: true}},
		{Open: &Open{Ref: 8, Conversation: "g:7"}},
		{Close: &Close{Ref: 9, Conversation: "g:7"}},
		{Conversation: conv},
		{PullNow: &PullNow{Conversation: "g:7", Epoch: 2, Head: 9}},
		{Error: &Error{Ref: 10, Code: "overloaded", Message: "later", Retryable: true, Conversation: "g:7"}},
		{SyncRequest: &SyncRequest{Ref: 11, After: []*Resume{{Conversation: "g:7", Epoch: 2, Cursor: 300}, {}}, Limit: 1000, Ack: true}},
		{Sync: &Sync{Ref: 11, Epoch: 2, More: true, Pages: []*Page{
			{Conversation: "g:7", Epoch: 2, After: 10, UpTo: 13, More: true, Truncated: true, Head: 99, Messages: []*Deliver{{Seq: 11, Sender: "bob", Body: "one"}}},
			{},
		}}},
	}
}

// framed wraps an encoded message as the field num of a Frame.
func framed(num protowire.Number, body []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), body)
}
