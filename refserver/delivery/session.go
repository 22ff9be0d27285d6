package delivery

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

// Session is one connection's part in its user's conversations.
type Session struct {
	s        *Service
	conn     *push.Conn
	user     string
	begin    push.JoinOptions // how groups begin; an inbox is never closed
	inFlight atomic.Int64     // sends that wait for the store

	mu      sync.RWMutex
	members []membership        // sorted by conversation's name: most users have few, and a map of two weighs ten times as much
	left    map[string]struct{} // groups that the user was taken out of; a login may have read the list before
	closed  bool
}

type membership struct {
	conv   *conversation
	member *push.Member
}

func (ss *Session) lookup(conversation string) *push.Member {
	return ss.membership(conversation).member
}

func (ss *Session) membership(conversation string) membership {
	ss.mu.RLock()
	defer ss.mu.RUnlock()
	if i, ok := ss.findLocked(conversation); ok {
		return ss.members[i]
	}
	return membership{}
}

// fewMembers is up to where comparing one by one is as fast as a search.
const fewMembers = 16

// membershipOf is membership for a name as it lies in a frame: comparing it in
// place allocates nothing.
func (ss *Session) membershipOf(name []byte) membership {
	ss.mu.RLock()
	defer ss.mu.RUnlock()
	if len(ss.members) <= fewMembers {
		for i := range ss.members {
			if ss.members[i].conv.name == string(name) {
				return ss.members[i]
			}
		}
		return membership{}
	}
	if i, ok := ss.findLocked(string(name)); ok {
		return ss.members[i]
	}
	return membership{}
}

func (ss *Session) findLocked(conversation string) (at int, found bool) {
	return slices.BinarySearchFunc(ss.members, conversation, func(m membership, name string) int {
		return strings.Compare(m.conv.name, name)
	})
}

// Close takes the session out of its rooms. The cursors that its acks moved
// are written by the service.
func (ss *Session) Close() {
	ss.mu.Lock()
	members := ss.members
	ss.members, ss.closed = nil, true
	ss.mu.Unlock()
	for _, m := range members {
		m.member.Leave()
	}
	ss.s.presence.went(ss)
}

// Handle takes one frame of the client. A request that fails is answered with
// an error frame; a returned error ends the connection. Sends and acks never
// wait for the store here: their answers come later.
func (ss *Session) Handle(ctx context.Context, v *wire.View) error {
	switch v.Kind {
	case wire.FrameSend:
		ss.send(ctx, &v.Send)
	case wire.FrameAck:
		ss.ack(&v.Ack)
	default:
		f, err := v.Frame()
		if err != nil {
			return wire.Faultf(wire.CodeBadRequest, "malformed %v frame: %v", v.Kind, err)
		}
		return ss.request(ctx, v.Kind, f)
	}
	return nil
}

func (ss *Session) request(ctx context.Context, kind wire.FrameKind, f *wire.Frame) error {
	answer, ref, err := &wire.Frame{}, uint64(0), error(nil)
	switch kind {
	case wire.FramePageRequest:
		ref = f.PageRequest.Ref
		if err = ss.page(ctx, f.PageRequest); err == nil {
			return nil // the room has queued it, in order with the deliveries
		}
	case wire.FrameSyncRequest:
		ref = f.SyncRequest.Ref
		if err = ss.sync(ctx, f.SyncRequest); err == nil {
			return nil // queued before the groups in it went live
		}
	case wire.FrameCountsRequest:
		ref = f.CountsRequest.Ref
		answer.Counts, err = ss.s.Counts(ctx, ss.user, f.CountsRequest)
	case wire.FrameFriendsRequest:
		ref = f.FriendsRequest.Ref
		answer.Friends, err = ss.s.Friends(ctx, ss.user, f.FriendsRequest)
	case wire.FrameOpen:
		ref = f.Open.Ref
		answer.Conversation, err = ss.setOpen(ref, f.Open.Conversation, true)
	case wire.FrameClose:
		ref = f.Close.Ref
		answer.Conversation, err = ss.setOpen(ref, f.Close.Conversation, false)
	case wire.FrameHello:
		return wire.Faultf(wire.CodeBadRequest, "hello was sent already; connect again to resume elsewhere")
	default:
		return wire.Faultf(wire.CodeBadRequest, "a client doesn't send %v frames", kind)
	}
	if err != nil {
		ss.fail(ref, wire.AsFault(err))
		return nil
	}
	_ = ss.conn.Send(answer) // fails only on a connection that is ending
	return nil
}

func (ss *Session) fail(ref uint64, f *wire.Fault) {
	_ = ss.conn.Send(&wire.Frame{Error: f.Frame(ref)})
}

func (ss *Session) send(ctx context.Context, v *wire.SendView) {
	if n := ss.inFlight.Add(1); n > int64(ss.s.cfg.MaxInFlight) {
		ss.inFlight.Add(-1)
		ss.s.stats.failed.Add(1)
		ss.fail(v.Ref, wire.Faultf(wire.CodeOverloaded, "%d sends of this connection wait for their answers already; send again after one has come", n-1))
		return
	}
	p := &pending{ref: v.Ref, session: ss, origin: ss.conn}
	if err := ss.s.append(ctx, ss.user, string(v.To), string(v.ClientMsgID), string(v.Body), p); err != nil {
		ss.inFlight.Add(-1)
		f := wire.AsFault(err)
		if f.Code.Retryable() {
			ss.s.stats.failed.Add(1)
		} else {
			ss.s.stats.refused.Add(1)
		}
		ss.fail(v.Ref, f)
	}
}

// ack moves this node's cursor at once and the stored one with the others of
// the moment. Only an ack with a ref is answered.
func (ss *Session) ack(v *wire.AckView) {
	ss.s.stats.ackRequests.Add(1)
	ms := ss.membershipOf(v.Conversation)
	if ms.member == nil {
		ss.fail(v.Ref, &wire.Fault{Code: wire.CodeNotMember, Conversation: string(v.Conversation),
			Message: "not a conversation of this user; acks go to its groups and its own inbox"})
		return
	}
	if err := checkAck(ms.conv, v.Epoch, v.UpTo, v.IDs); err != nil {
		ss.fail(v.Ref, wire.AsFault(err))
		return
	}
	if v.Epoch != ms.conv.epoch {
		ss.s.stats.acksIgnored.Add(1)
		ss.acked(v.Ref, ms)
		return
	}
	var written func(error)
	if ref := v.Ref; ref != 0 && ss.s.cfg.AckFlush <= 0 {
		written = func(err error) {
			if err != nil {
				ss.fail(ref, wire.AsFault(err))
				return
			}
			ss.acked(ref, ms)
		}
	}
	if len(v.IDs) > 0 {
		ms.member.AckIDs(v.IDs)
		ss.s.acks.addIDs(ms.conv, v.IDs, written)
	} else if cursor, moved := ms.conv.ack(ms.member, v.UpTo); moved {
		ss.s.acks.add(ms.conv, ss.user, cursor, written)
	} else {
		ss.s.stats.acksIgnored.Add(1)
		written = nil
	}
	if written == nil {
		ss.acked(v.Ref, ms)
	}
}

func (ss *Session) acked(ref uint64, ms membership) {
	if ref == 0 {
		return
	}
	cursor, _, _ := ms.member.Status()
	_ = ss.conn.Send(&wire.Frame{AckResult: &wire.AckResult{
		Ref: ref, Conversation: ms.conv.name, Epoch: ms.conv.epoch, Cursor: cursor,
	}})
}

func (ss *Session) setOpen(ref uint64, name string, open bool) (*wire.Conversation, error) {
	ms := ss.membership(name)
	if ms.member == nil {
		return nil, wire.Faultf(wire.CodeNotMember, "%q is not a conversation of this user", name)
	}
	if !open && ms.conv.kind == wire.KindInbox {
		return nil, wire.Faultf(wire.CodeBadRequest, "%s: an inbox can't be closed, only groups", name)
	}
	ms.member.SetOpen(open)
	cursor, head, state := ms.member.Status()
	answer := ms.conv.state(cursor, head, state)
	answer.Ref = ref
	return answer, nil
}
