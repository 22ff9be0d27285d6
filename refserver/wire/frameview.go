package wire

import "google.golang.org/protobuf/encoding/protowire"

// View is one received frame. Kind says which of the views holds it; the
// kinds without a view are had by Frame. Decode and SetFrame may be called
// again and again on the same View, which then doesn't allocate for the kinds
// that have a view.
type View struct {
	Kind       FrameKind
	Deliver    DeliverView
	Ack        AckView
	Send       SendView
	SendResult SendResultView
	Page       PageView
	Sync       SyncView

	payload []byte // of Decode
	frame   *Frame // of SetFrame, or of Decode for a kind without a view
}

// Decode reads one Frame, which has exactly one field set. The views' slices
// are part of payload and live as long as it. Kinds without a view are
// decoded by the generated code. Errors are *Fault, bad_request; the view then
// has no kind and is not to be used.
func (v *View) Decode(payload []byte) error {
	v.Kind, v.payload, v.frame = 0, payload, nil
	var body []byte
	var kind FrameKind
	n := 0
	f := fields{in: "frame", b: payload}
	for f.next() {
		if f.num > protowire.Number(FrameSync) {
			f.skip()
			continue
		}
		kind = FrameKind(f.num)
		body = f.bytes(kind.String())
		n++
	}
	if f.err != nil {
		return f.err
	}
	if n != 1 {
		return errNotOne(n)
	}
	if err := v.decode(kind, body); err != nil {
		return err
	}
	v.Kind = kind
	return nil
}

func (v *View) decode(kind FrameKind, body []byte) (err error) {
	switch kind {
	case FrameDeliver:
		return v.Deliver.Decode(body)
	case FrameAck:
		return v.Ack.Decode(body)
	case FrameSend:
		return v.Send.Decode(body)
	case FrameSendResult:
		return v.SendResult.Decode(body)
	case FramePage:
		return v.Page.Decode(body)
	case FrameSync:
		return v.Sync.Decode(body)
	default:
		v.frame, err = unmarshalFrame(v.payload)
		return err
	}
}

// Frame returns the frame as the generated type, of any kind. For a kind with
// a view it is decoded at each call, unless it came by SetFrame.
func (v *View) Frame() (*Frame, error) {
	if v.frame != nil {
		return v.frame, nil
	}
	return unmarshalFrame(v.payload)
}

// SetFrame makes v a view of f, as decoded from JSON. f must not be changed
// while v is in use. The error is a *Fault with code bad_request.
func (v *View) SetFrame(f *Frame) error {
	kind, err := f.Kind()
	v.Kind, v.payload, v.frame = kind, nil, f
	if err != nil {
		return err
	}
	switch kind {
	case FrameDeliver:
		v.Deliver.set(f.Deliver)
	case FrameAck:
		a := f.Ack
		v.Ack = AckView{Ref: a.Ref, Conversation: []byte(a.Conversation), Epoch: a.Epoch, UpTo: a.UpTo, IDs: append(v.Ack.IDs[:0], a.Ids...)}
	case FrameSend:
		s := f.Send
		v.Send = SendView{Ref: s.Ref, To: []byte(s.To), ClientMsgID: []byte(s.ClientMsgId), Body: []byte(s.Body)}
	case FrameSendResult:
		r := f.SendResult
		v.SendResult = SendResultView{
			Ref: r.Ref, ClientMsgID: []byte(r.ClientMsgId), Conversation: []byte(r.Conversation),
			Epoch: r.Epoch, Seq: r.Seq, Duplicate: r.Duplicate, Offline: r.Offline,
		}
	case FramePage:
		v.Page.set(f.Page)
	case FrameSync:
		v.Sync.set(f.Sync)
	}
	return nil
}

func (d *DeliverView) set(m *Deliver) {
	*d = DeliverView{
		Conversation: []byte(m.GetConversation()), Sender: []byte(m.GetSender()),
		ClientMsgID: []byte(m.GetClientMsgId()), Body: []byte(m.GetBody()),
		Epoch: m.GetEpoch(), Seq: m.GetSeq(), TimeMS: m.GetTimeMs(),
	}
}

func (p *PageView) set(m *Page) {
	*p = PageView{
		Ref: m.GetRef(), Conversation: []byte(m.GetConversation()), Epoch: m.GetEpoch(), After: m.GetAfter(), UpTo: m.GetUpTo(),
		More: m.GetMore(), Truncated: m.GetTruncated(), Head: m.GetHead(), Sender: []byte(m.GetSender()),
		Count: len(m.GetMessages()), page: m,
	}
}

// IsAck tells from the first byte whether a frame is an ack. What it really
// holds is for [View.Decode] to say.
func IsAck(payload []byte) bool { return len(payload) > 0 && payload[0] == byte(FrameAck)<<3|2 }
