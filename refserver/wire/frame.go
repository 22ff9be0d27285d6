package wire

import (
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// FrameKind is the field of a Frame that is set, by its number in the schema.
type FrameKind uint8

// The kinds of frame.
const (
	FrameHello FrameKind = iota + 1
	FrameWelcome
	FrameSend
	FrameSendResult
	FrameDeliver
	FrameAck
	FrameAckResult
	FramePageRequest
	FramePage
	FrameCountsRequest
	FrameCounts
	FrameFriendsRequest
	FrameFriends
	FrameOpen
	FrameClose
	FrameConversation
	FramePullNow
	FrameError
	FrameSyncRequest
	FrameSync
)

var frameNames = [...]string{
	FrameHello:          "hello",
	FrameWelcome:        "welcome",
	FrameSend:           "send",
	FrameSendResult:     "send_result",
	FrameDeliver:        "deliver",
	FrameAck:            "ack",
	FrameAckResult:      "ack_result",
	FramePageRequest:    "page_request",
	FramePage:           "page",
	FrameCountsRequest:  "counts_request",
	FrameCounts:         "counts",
	FrameFriendsRequest: "friends_request",
	FrameFriends:        "friends",
	FrameOpen:           "open",
	FrameClose:          "close",
	FrameConversation:   "conversation",
	FramePullNow:        "pull_now",
	FrameError:          "error",
	FrameSyncRequest:    "sync_request",
	FrameSync:           "sync",
}

// String returns the field's name in the schema, such as "send_result".
func (k FrameKind) String() string {
	if k == 0 || int(k) >= len(frameNames) {
		return "kind " + strconv.Itoa(int(k))
	}
	return frameNames[k]
}

// Kind returns which field is set. Anything but exactly one is an error, a
// *Fault with code bad_request.
func (x *Frame) Kind() (FrameKind, error) {
	var kind FrameKind
	n := 0
	set := func(k FrameKind, is bool) {
		if is {
			kind = k
			n++
		}
	}
	set(FrameHello, x.GetHello() != nil)
	set(FrameWelcome, x.GetWelcome() != nil)
	set(FrameSend, x.GetSend() != nil)
	set(FrameSendResult, x.GetSendResult() != nil)
	set(FrameDeliver, x.GetDeliver() != nil)
	set(FrameAck, x.GetAck() != nil)
	set(FrameAckResult, x.GetAckResult() != nil)
	set(FramePageRequest, x.GetPageRequest() != nil)
	set(FramePage, x.GetPage() != nil)
	set(FrameCountsRequest, x.GetCountsRequest() != nil)
	set(FrameCounts, x.GetCounts() != nil)
	set(FrameFriendsRequest, x.GetFriendsRequest() != nil)
	set(FrameFriends, x.GetFriends() != nil)
	set(FrameOpen, x.GetOpen() != nil)
	set(FrameClose, x.GetClose() != nil)
	set(FrameConversation, x.GetConversation() != nil)
	set(FramePullNow, x.GetPullNow() != nil)
	set(FrameError, x.GetError() != nil)
	set(FrameSyncRequest, x.GetSyncRequest() != nil)
	set(FrameSync, x.GetSync() != nil)
	if n != 1 {
		return 0, errNotOne(n)
	}
	return kind, nil
}

func errNotOne(n int) error {
	if n == 0 {
		return Faultf(CodeBadRequest, "frame: no known field is set; exactly one must be")
	}
	return Faultf(CodeBadRequest, "frame: %d fields are set; exactly one may be", n)
}

// unmarshalFrame decodes with the generated code, by the rules of the views.
func unmarshalFrame(payload []byte) (*Frame, error) {
	f := new(Frame)
	if err := proto.Unmarshal(payload, f); err != nil {
		return nil, Faultf(CodeBadRequest, "frame: %s", reason(err))
	}
	if err := checkWireTypes(f.ProtoReflect()); err != nil {
		return nil, err
	}
	return f, nil
}

// checkWireTypes refuses a known field with the wrong wire type, which the
// generated code keeps among the unknown ones.
func checkWireTypes(m protoreflect.Message) error {
	b := m.GetUnknown()
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeField(b)
		if n < 0 {
			return Faultf(CodeBadRequest, "%s: %s", m.Descriptor().Name(), reason(protowire.ParseError(n)))
		}
		if d := m.Descriptor().Fields().ByNumber(num); d != nil {
			return Faultf(CodeBadRequest, "%s.%s: wire type is %s, want that of %s", m.Descriptor().Name(), d.Name(), typeName(typ), d.Kind())
		}
		b = b[n:]
	}
	var err error
	m.Range(func(d protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case d.Kind() != protoreflect.MessageKind:
		case d.IsList():
			for l, i := v.List(), 0; i < l.Len() && err == nil; i++ {
				err = checkWireTypes(l.Get(i).Message())
			}
		default:
			err = checkWireTypes(v.Message())
		}
		return err == nil
	})
	return err
}
