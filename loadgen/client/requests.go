package client

import "ackmark/refserver/wire"

// Requests that aren't the hot path's are encoded by the generated code.

// AckIDs queues an ack frame by ids.
func (s *wsSession) AckIDs(conversation string, epoch uint64, ids []uint64) {
	b, err := wire.AppendFrame(nil, &wire.Frame{Ack: &wire.Ack{Conversation: conversation, Epoch: epoch, Ids: ids}})
	if err != nil {
		s.fail(err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enqueueAck(b)
}

// Pull queues a page request.
func (s *wsSession) Pull(r *PullRequest) { s.request(&wire.Frame{PageRequest: requestOf(r)}) }

// Sync queues a request for pages of all groups.
func (s *wsSession) Sync(r *SyncRequest) { s.request(&wire.Frame{SyncRequest: syncRequestOf(r)}) }

// Counts queues a request for counts.
func (s *wsSession) Counts(ref uint64, senders bool) {
	s.request(&wire.Frame{CountsRequest: &wire.CountsRequest{Ref: ref, Senders: senders}})
}

// Friends queues a request for friends.
func (s *wsSession) Friends(ref uint64, after string, limit int) {
	s.request(&wire.Frame{FriendsRequest: &wire.FriendsRequest{Ref: ref, After: after, Limit: uint32(limit)}})
}

// Open queues a request to open a conversation.
func (s *wsSession) Open(ref uint64, conversation string) {
	s.request(&wire.Frame{Open: &wire.Open{Ref: ref, Conversation: conversation}})
}

// CloseConversation queues a request to close one.
func (s *wsSession) CloseConversation(ref uint64, conversation string) {
	s.request(&wire.Frame{Close: &wire.Close{Ref: ref, Conversation: conversation}})
}

func (s *wsSession) request(f *wire.Frame) {
	b, err := wire.AppendFrame(nil, f)
	if err != nil { // names come from the server itself: they are UTF-8
		s.fail(err)
		return
	}
	s.queue(b)
}
