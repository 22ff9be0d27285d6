package client

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"ackmark/refserver/wire"
)

// call queues a request that is answered with a T.
func call[T any](s *httpSession, method, path string, ref uint64, in any, hand func(out *T, bytes int, now time.Duration)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	callLocked(s, &request{method: method, path: path, ref: ref}, in, hand)
}

func callLocked[T any](s *httpSession, r *request, in any, hand func(out *T, bytes int, now time.Duration)) {
	if in != nil {
		b, err := wire.EncodeJSON(in)
		if err != nil {
			s.endLocked(err)
			return
		}
		r.body = b
	}
	r.take = func(body []byte, now time.Duration) (func(), error) {
		out := new(T)
		if _, err := answered(http.StatusOK, body, out); err != nil {
			return nil, err
		}
		bytes := len(body)
		return func() { hand(out, bytes, now) }, nil
	}
	s.enqueueLocked(r)
}

// Send queues a send.
func (s *httpSession) Send(m *Outgoing) {
	in := &wire.Send{To: m.To, ClientMsgId: m.ClientMsgID, Body: string(m.Body)}
	ref := m.Ref
	call(s, http.MethodPost, "/v1/send", ref, in, func(out *wire.SendResult, _ int, now time.Duration) {
		s.h.OnAnswer(now, &Answer{
			Ref: ref, Conversation: []byte(out.Conversation), Epoch: out.Epoch, Seq: out.Seq,
			Duplicate: out.Duplicate, Offline: out.Offline,
		})
	})
}

// Ack queues a cumulative ack.
func (s *httpSession) Ack(conversation string, epoch, upTo uint64) {
	s.ack(&wire.Ack{Conversation: conversation, Epoch: epoch, UpTo: upTo})
}

// AckIDs queues an ack by ids.
func (s *httpSession) AckIDs(conversation string, epoch uint64, ids []uint64) {
	s.ack(&wire.Ack{Conversation: conversation, Epoch: epoch, Ids: ids})
}

func (s *httpSession) ack(a *wire.Ack) {
	s.mu.Lock()
	defer s.mu.Unlock()
	callLocked(s, &request{method: http.MethodPost, path: "/v1/ack", ack: true}, a, func(*wire.AckResult, int, time.Duration) {})
}

// Pull queues a page request.
func (s *httpSession) Pull(r *PullRequest) {
	in, ref, name := requestOf(r), r.Ref, r.Conversation
	newest := r.Newest
	in.Ref = 0
	s.mu.Lock()
	defer s.mu.Unlock()
	req := &request{method: http.MethodPost, path: "/v1/pull", ref: ref, pulls: s.pulling(func(other string) bool { return other == name })}
	callLocked(s, req, in, func(out *wire.Page, bytes int, now time.Duration) {
		s.pulled(name, out, newest)
		p := pageOf(out)
		p.Ref, p.Bytes = ref, bytes
		s.h.OnPage(now, &p)
	})
}

// Sync queues a request for pages of all groups.
func (s *httpSession) Sync(r *SyncRequest) {
	in, ref := syncRequestOf(r), r.Ref
	in.Ref = 0
	s.mu.Lock()
	defer s.mu.Unlock()
	req := &request{method: http.MethodPost, path: "/v1/sync", ref: ref, pulls: s.pulling(isGroup)}
	callLocked(s, req, in, func(out *wire.Sync, bytes int, now time.Duration) {
		for _, p := range out.Pages {
			s.pulled(p.GetConversation(), p, false)
		}
		pages := syncOf(out, bytes)
		pages.Ref = ref
		s.h.OnSyncPages(now, pages)
	})
}

// Counts queues a request for counts.
func (s *httpSession) Counts(ref uint64, senders bool) {
	path := "/v1/counts"
	if senders {
		path += "?senders=1"
	}
	call(s, http.MethodGet, path, ref, nil, func(out *wire.Counts, bytes int, now time.Duration) {
		c := countsOf(out, bytes)
		c.Ref = ref
		s.h.OnCounts(now, c)
	})
}

// Friends queues a request for friends.
func (s *httpSession) Friends(ref uint64, after string, limit int) {
	args := url.Values{}
	if after != "" {
		args.Set("after", after)
	}
	if limit > 0 {
		args.Set("limit", strconv.Itoa(limit))
	}
	path := "/v1/friends"
	if len(args) > 0 {
		path += "?" + args.Encode()
	}
	call(s, http.MethodGet, path, ref, nil, func(out *wire.Friends, bytes int, now time.Duration) {
		f := friendsOf(out, bytes)
		f.Ref = ref
		s.h.OnFriends(now, f)
	})
}
