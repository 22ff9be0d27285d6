package redisstore

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"go.uber.org/goleak"

	"ackmark/refserver/delivery"
	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

func TestMain(m *testing.M) {
	// go-redis's probe of a Redis that is away looks once a second whether its pool is closed.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

const waitFor = 20 * time.Second

// recorder is a sink that answers each send on its Reply channel, and keeps
// what the store reported.
type recorder struct {
	mu     sync.Mutex
	order  map[string][]uint64 // guarded by mu: new seqs by conversation, in the order of the reports
	epochs []uint64            // guarded by mu
	batchN []int               // guarded by mu: sizes of the batches
	online map[string]struct{} // guarded by mu: whom every message reaches ahead
}

func (r *recorder) Appended(batch []*delivery.Append) {
	r.mu.Lock()
	r.batchN = append(r.batchN, len(batch))
	for _, a := range batch {
		if a.Err == nil && !a.Duplicate {
			r.order[a.Conversation] = append(r.order[a.Conversation], a.Seq)
		}
	}
	r.mu.Unlock()
	for _, a := range batch {
		if reply, ok := a.Reply.(chan *delivery.Append); ok {
			reply <- a
		}
	}
}

// Ahead reaches whom the test has named.
func (r *recorder) Ahead(a *delivery.Append) map[string]struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.online
}

func (r *recorder) EpochChanged(epoch uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.epochs = append(r.epochs, epoch)
}

func (r *recorder) changes() []uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]uint64(nil), r.epochs...)
}

// fixture is a store on a Redis of its own.
type fixture struct {
	*Store
	t    testing.TB
	sink *recorder
	ctx  context.Context
}

func startStore(t testing.TB, cfg Config) *fixture {
	t.Helper()
	s, err := New(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{Store: s, t: t, sink: &recorder{order: map[string][]uint64{}}, ctx: context.Background()}
	if err := s.Start(f.ctx, f.sink); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), waitFor)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return f
}

// onEach runs a test on a real Redis and on the embedded one.
func onEach(t *testing.T, cfg Config, test func(t *testing.T, f *fixture)) {
	t.Run("redis", func(t *testing.T) {
		cfg.URL = redistest.Start(t).URL()
		test(t, startStore(t, cfg))
	})
	t.Run("embedded", func(t *testing.T) {
		cfg.URL = "redis://" + miniredis.RunT(t).Addr()
		f := startStore(t, cfg)
		if !f.Server().Embedded {
			t.Fatal("miniredis was taken for Redis")
		}
		test(t, f)
	})
}

// newAppend is a send whose answer arrives on the channel.
func newAppend(conversation, sender, id string) (*delivery.Append, chan *delivery.Append) {
	reply := make(chan *delivery.Append, 1)
	return &delivery.Append{
		Conversation: conversation, Sender: sender, ClientMsgID: id,
		Record:   wire.AppendRecord(nil, sender, id, "body of "+id, time.Now().UnixMilli()),
		Deadline: time.Now().Add(waitFor), Reply: reply,
	}, reply
}

// send stores one message and waits for the answer.
func (f *fixture) send(conversation, sender, id string) *delivery.Append {
	f.t.Helper()
	a, reply := newAppend(conversation, sender, id)
	if err := f.Append(a); err != nil {
		f.t.Fatalf("append %s: %v", id, err)
	}
	return await(f.t, reply)
}

func await(t testing.TB, reply chan *delivery.Append) *delivery.Append {
	t.Helper()
	select {
	case a := <-reply:
		return a
	case <-time.After(waitFor):
		t.Fatal("no answer to a send")
		return nil
	}
}

// sent stores one message and returns its seq.
func (f *fixture) sent(conversation, sender, id string) uint64 {
	f.t.Helper()
	a := f.send(conversation, sender, id)
	if a.Err != nil {
		f.t.Fatalf("send %s: %v", id, a.Err)
	}
	return a.Seq
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// group creates users and a group of them.
func (f *fixture) group(id string, members ...string) string {
	f.t.Helper()
	f.must(f.CreateUsers(f.ctx, members))
	if n, err := f.AddMembers(f.ctx, wire.Group(id), members); err != nil || n != len(members) {
		f.t.Fatalf("%d members added (%v), want %d", n, err, len(members))
	}
	return wire.Group(id)
}

func (f *fixture) open(conversation string) delivery.Log {
	f.t.Helper()
	l, err := f.Open(f.ctx, conversation)
	f.must(err)
	return l
}

func (f *fixture) cursor(group, user string) uint64 {
	f.t.Helper()
	c, err := f.Cursor(f.ctx, group, user)
	f.must(err)
	return c
}

func (f *fixture) move(group, user string, upTo uint64) {
	f.t.Helper()
	f.must(f.Move(f.ctx, group, f.Epoch(), []delivery.Move{{User: user, UpTo: upTo}}))
}

func (f *fixture) remove(inbox string, epoch, upTo uint64, ids []uint64) error {
	_, err := f.Remove(f.ctx, inbox, epoch, upTo, ids)
	return err
}

// seqs reads a whole conversation.
func (f *fixture) seqs(conversation string) []uint64 {
	f.t.Helper()
	entries, err := f.Read(f.ctx, conversation, f.Epoch(), 0, 1<<20)
	f.must(err)
	got := []uint64{}
	for _, e := range entries {
		got = append(got, e.Seq)
	}
	return got
}

func wantCode(t testing.TB, err error, code wire.Code) {
	t.Helper()
	if err == nil || wire.AsFault(err).Code != code {
		t.Fatalf("error %v, want %s", err, code)
	}
}

func names(n int) []string {
	users := make([]string, n)
	for i := range users {
		users[i] = fmt.Sprintf("user%04d", i)
	}
	return users
}
