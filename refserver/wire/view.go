package wire

// DeliverView is a Deliver, or a stored record, decoded in place: its slices
// are part of the input and live as long as it.
type DeliverView struct {
	Conversation, Sender, ClientMsgID, Body []byte

	Epoch, Seq uint64
	TimeMS     int64 // Unix milliseconds
}

// Decode reads a Deliver or a record. Errors are *Fault, bad_request.
func (d *DeliverView) Decode(b []byte) error {
	*d = DeliverView{}
	f := fields{in: "deliver", b: b}
	for f.next() {
		switch f.num {
		case deliverConversation:
			d.Conversation = f.str("conversation")
		case deliverEpoch:
			d.Epoch = f.uint("epoch")
		case deliverSeq:
			d.Seq = f.uint("seq")
		case deliverSender:
			d.Sender = f.str("sender")
		case deliverClientMsgID:
			d.ClientMsgID = f.str("client_msg_id")
		case deliverBody:
			d.Body = f.str("body")
		case deliverTime:
			d.TimeMS = int64(f.uint("time_ms"))
		default:
			f.skip()
		}
	}
	return f.err
}

// AckView is an Ack decoded in place. IDs is reused by the next Decode.
type AckView struct {
	Ref          uint64
	Conversation []byte
	Epoch, UpTo  uint64
	IDs          []uint64
}

// keepIDs bounds the ids (8 bytes each) that an idle view holds on to.
const keepIDs = 128

// Decode reads an Ack. Errors are *Fault, bad_request.
func (a *AckView) Decode(b []byte) error {
	ids := a.IDs[:0]
	if cap(ids) > keepIDs {
		ids = nil
	}
	*a = AckView{}
	f := fields{in: "ack", b: b}
	for f.next() {
		switch f.num {
		case 1:
			a.Ref = f.uint("ref")
		case 2:
			a.Conversation = f.str("conversation")
		case 3:
			a.Epoch = f.uint("epoch")
		case 4:
			a.UpTo = f.uint("up_to")
		case 5:
			ids = f.uints("ids", ids)
		default:
			f.skip()
		}
	}
	a.IDs = ids
	return f.err
}

// SendView is a Send decoded in place.
type SendView struct {
	Ref                   uint64
	To, ClientMsgID, Body []byte
}

// Decode reads a Send. Errors are *Fault, bad_request.
func (s *SendView) Decode(b []byte) error {
	*s = SendView{}
	f := fields{in: "send", b: b}
	for f.next() {
		switch f.num {
		case 1:
			s.Ref = f.uint("ref")
		case 2:
			s.To = f.str("to")
		case 3:
			s.ClientMsgID = f.str("client_msg_id")
		case 4:
			s.Body = f.str("body")
		default:
			f.skip()
		}
	}
	return f.err
}

// SendResultView is a SendResult decoded in place, or about to be encoded.
type SendResultView struct {
	Ref                       uint64
	ClientMsgID, Conversation []byte
	Epoch, Seq                uint64
	Duplicate, Offline        bool
}

// Decode reads a SendResult. Errors are *Fault, bad_request.
func (r *SendResultView) Decode(b []byte) error {
	*r = SendResultView{}
	f := fields{in: "send_result", b: b}
	for f.next() {
		switch f.num {
		case 1:
			r.Ref = f.uint("ref")
		case 2:
			r.ClientMsgID = f.str("client_msg_id")
		case 3:
			r.Conversation = f.str("conversation")
		case 4:
			r.Epoch = f.uint("epoch")
		case 5:
			r.Seq = f.uint("seq")
		case 6:
			r.Duplicate = f.bool("duplicate")
		case 7:
			r.Offline = f.bool("offline")
		default:
			f.skip()
		}
	}
	return f.err
}
