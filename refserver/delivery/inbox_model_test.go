package delivery_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ackmark/refserver/delivery"
	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

// inboxModel is what bob's inbox and his client should be.
type inboxModel struct {
	rt  *rapid.T
	w   *world
	cfg delivery.Config

	head    uint64
	rows    map[uint64]string // stored: seq → "SENDER ID"
	sent    map[string]uint64 // answered: "SENDER ID" → seq
	shown   map[string]bool
	dropped map[string]bool // pages that a crash has dropped: the injector's own log

	phone *phone // nil while offline
	live  bool
}

// Random histories of sends, pulls, acks, crashes of client and server, and
// restarts of Redis agree with a model, step by step, in every combination of
// store_for and remove: what is stored is exactly what was neither pushed
// without a row, nor acked, nor pulled. What a client has neither seen nor can
// still pull is exactly what its crash has dropped, and that is nothing where
// messages go on ack.
func TestInboxModel(t *testing.T) {
	redis := redistest.Start(t, redistest.AOF("always"))
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		cfg := delivery.Config{
			StoreFor:    rapid.SampledFrom([]delivery.StoreFor{delivery.StoreForAll, delivery.StoreForOffline}).Draw(rt, "store for"),
			Remove:      rapid.SampledFrom([]delivery.Remove{delivery.RemoveOnAck, delivery.RemoveOnPull}).Draw(rt, "remove"),
			SenderIndex: rapid.Bool().Draw(rt, "index"),
			AckJoin:     1,
		}
		m := &inboxModel{
			rt: rt, w: newWorld(rt, redis.URL(), fmt.Sprint("run", runs), cfg), cfg: cfg,
			rows: map[uint64]string{}, sent: map[string]uint64{}, shown: map[string]bool{}, dropped: map[string]bool{},
		}
		defer func() { m.w.crash() }()
		defer m.logout()
		m.w.users("bob")
		rt.Repeat(map[string]func(*rapid.T){
			"send":  func(rt *rapid.T) { m.send(rt) },
			"login": func(rt *rapid.T) { m.login(rt) },
			"pull":  func(rt *rapid.T) { m.pull(rt) },
			"ack":   func(rt *rapid.T) { m.ack(rt) },
			"logout": func(rt *rapid.T) {
				if m.phone == nil {
					rt.Skip("offline")
				}
				m.logout()
			},
			"server crash": func(*rapid.T) {
				m.logout()
				m.w.crash()
				m.w.start()
			},
			"redis crash": func(rt *rapid.T) {
				if rapid.IntRange(0, 9).Draw(rt, "crashes") != 0 {
					rt.Skip("rarely")
				}
				m.logout()
				redis.Kill()
				redis.Restart()
			},
			"": func(rt *rapid.T) { m.check() },
		})
		m.audit()
	})
}

func (m *inboxModel) logout() {
	if m.phone != nil {
		m.phone.end()
	}
	m.phone, m.live = nil, false
}

func (m *inboxModel) oldest() uint64 {
	if len(m.rows) == 0 {
		return 0
	}
	return slices.Min(slices.Collect(maps.Keys(m.rows)))
}

func (m *inboxModel) send(rt *rapid.T) {
	sender := rapid.SampledFrom([]string{"ann", "an", "zoe"}).Draw(rt, "sender")
	id := fmt.Sprint(rapid.IntRange(0, 40).Draw(rt, "id"))
	key := sender + " " + id
	got := m.w.send(sender, me, id)
	if seq, ok := m.sent[key]; ok {
		if !got.Duplicate || got.Seq != seq {
			rt.Fatalf("resend of %s: %v, want a duplicate of %d", key, got, seq)
		}
		return
	}
	m.head++
	offline := m.phone == nil
	if m.cfg.StoreFor == delivery.StoreForOffline {
		offline = !m.live
	}
	if got.Duplicate || got.Seq != m.head || got.Offline != offline {
		rt.Fatalf("send of %s: %v, want seq %d, offline %v", key, got, m.head, offline)
	}
	m.sent[key] = m.head
	if m.cfg.StoreFor == delivery.StoreForAll || !m.live {
		m.rows[m.head] = key
	}
	if m.live {
		f := m.phone.next()
		if f.Deliver == nil || f.Deliver.Seq != m.head || f.Deliver.Sender+" "+f.Deliver.ClientMsgId != key {
			rt.Fatalf("got %v, want %s as %d", f, key, m.head)
		}
		m.shown[key] = true
	}
}

func (m *inboxModel) login(rt *rapid.T) {
	if m.phone != nil {
		rt.Skip("online")
	}
	hello := &wire.Hello{Live: rapid.Bool().Draw(rt, "live")}
	m.phone = m.w.login("bob", hello)
	m.live = hello.Live || len(m.rows) == 0
	cursor, state := m.head, "live"
	if len(m.rows) > 0 {
		cursor = m.oldest() - 1
	}
	if !m.live {
		state = "behind"
	}
	if c := m.phone.welcome(); c.Cursor != cursor || c.Head != m.head || c.State != state {
		rt.Fatalf("welcome %v, want cursor %d, head %d, %s", c, cursor, m.head, state)
	}
}

func (m *inboxModel) pull(rt *rapid.T) {
	if m.phone == nil {
		rt.Skip("offline")
	}
	r := &wire.PageRequest{Ref: 1, Conversation: me, Epoch: m.w.store.Epoch(), Limit: rapid.Uint32Range(1, 5).Draw(rt, "limit")}
	switch how := rapid.IntRange(0, 3).Draw(rt, "how"); {
	case how == 1:
		r.Newest = true
	case how == 2:
		r.All = true
	case how == 3 && m.cfg.SenderIndex:
		r.Sender = rapid.SampledFrom([]string{"ann", "an", "zoe", "eve"}).Draw(rt, "sender")
	}
	want := m.want(r)
	p := m.phone.request(&wire.Frame{PageRequest: r}, nil).Page
	if p == nil || !slices.Equal(ids(p), want) {
		rt.Fatalf("page %v of %v, want %v", p, r, want)
	}
	crash := rapid.IntRange(0, 3).Draw(rt, "crash") == 0
	for _, msg := range p.Messages {
		key := msg.Sender + " " + msg.ClientMsgId
		if m.rows[msg.Seq] != key {
			rt.Fatalf("%d is %s, want %s", msg.Seq, key, m.rows[msg.Seq])
		}
		if m.cfg.Remove == delivery.RemoveOnPull {
			delete(m.rows, msg.Seq)
		}
		if crash {
			m.dropped[key] = true
		} else {
			m.shown[key] = true
		}
	}
	if r.Sender == "" && (r.Newest || p.UpTo == m.head) {
		m.live = true
	}
	if crash {
		m.logout()
	}
}

// want is the seqs of the page that a request should get.
func (m *inboxModel) want(r *wire.PageRequest) []uint64 {
	seqs := []uint64{}
	for _, seq := range slices.Sorted(maps.Keys(m.rows)) {
		var sender, id string
		_, _ = fmt.Sscan(m.rows[seq], &sender, &id)
		if r.Sender == "" || r.Sender == sender {
			seqs = append(seqs, seq)
		}
	}
	n := min(int(r.Limit), len(seqs))
	switch {
	case r.All:
		return seqs
	case r.Newest:
		return seqs[len(seqs)-n:]
	default:
		return seqs[:n]
	}
}

// ack acks some of what was shown, by ids, or as far as nothing is missing.
func (m *inboxModel) ack(rt *rapid.T) {
	if m.phone == nil || m.cfg.Remove == delivery.RemoveOnPull {
		rt.Skip("nothing to ack")
	}
	a := &wire.Ack{Ref: 1, Conversation: me, Epoch: m.w.store.Epoch()}
	byIDs, whole := rapid.Bool().Draw(rt, "by ids"), true
	for _, seq := range slices.Sorted(maps.Keys(m.rows)) {
		switch shown := m.shown[m.rows[seq]]; {
		case byIDs && shown && rapid.Bool().Draw(rt, "acked"):
			a.Ids = append(a.Ids, seq)
		case !byIDs && shown && whole:
			a.UpTo = seq
		case !shown:
			whole = false
		}
	}
	if len(a.Ids) == 0 && a.UpTo == 0 {
		rt.Skip("nothing was shown")
	}
	if f := m.phone.request(&wire.Frame{Ack: a}, nil); f.AckResult == nil {
		rt.Fatalf("got %v", f)
	}
	for seq := range m.rows {
		if seq <= a.UpTo || slices.Contains(a.Ids, seq) {
			delete(m.rows, seq)
		}
	}
}

func (m *inboxModel) check() {
	if got, want := m.w.rows(me), slices.Sorted(maps.Keys(m.rows)); !slices.Equal(got, want) {
		m.rt.Fatalf("stored %v, want %v", got, want)
	}
	if !m.cfg.SenderIndex {
		return
	}
	counts, err := m.w.store.SenderCounts(m.rt.Context(), me)
	m.w.must(err)
	total := uint64(0)
	for _, c := range counts {
		total += c.Messages
	}
	if total != uint64(len(m.rows)) {
		m.rt.Fatalf("the index has %v, want %d rows", counts, len(m.rows))
	}
}

// audit finds every answered message: shown, still stored, or dropped by a crash.
func (m *inboxModel) audit() {
	stored := map[string]bool{}
	for _, key := range m.rows {
		stored[key] = true
	}
	for key := range m.sent {
		lost := !m.shown[key] && !stored[key]
		switch {
		case lost && !m.dropped[key]:
			m.rt.Fatalf("%s is lost, and no crash has dropped it", key)
		case lost && m.cfg.Remove == delivery.RemoveOnAck:
			m.rt.Fatalf("%s is lost where messages go on ack", key)
		}
	}
}
