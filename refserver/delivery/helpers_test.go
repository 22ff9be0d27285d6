package delivery

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"

	"github.com/gobwas/ws"
	"go.uber.org/goleak"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a Service on a memStore.
type rig struct {
	*Service
	store *memStore
	hub   *push.Hub
}

func newRig(t testing.TB, cfg Config, hubCfg push.Config) *rig {
	t.Helper()
	store, hub := newMemStore(), push.New(hubCfg)
	s := New(cfg, store, hub, slog.New(slog.DiscardHandler))
	store.sink, store.rows.cfg = s, s.cfg
	hub.Start(s)
	if err := s.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		hub.Close(ctx, ws.StatusGoingAway, "test ends")
		_ = s.Close(ctx)
	})
	return &rig{s, store, hub}
}

func users(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("u%d", i)
	}
	return names
}

// device is a client on net.Pipe that keeps every frame it gets.
type device struct {
	t       testing.TB
	user    string
	conn    *push.Conn
	sock    net.Conn
	session *Session
	frames  chan *wire.Frame
	stalled atomic.Pointer[chan struct{}] // until it is closed nothing is read

	described map[string]*wire.Conversation // by the welcome, where it was taken by hello
}

// hello connects and takes the welcome.
func (r *rig) hello(t testing.TB, user string, h *wire.Hello) *device {
	t.Helper()
	d := r.open(t, user, h)
	f := d.next()
	if f.Welcome == nil {
		t.Fatalf("got %v, want a welcome", f)
	}
	d.described = map[string]*wire.Conversation{}
	for _, c := range f.Welcome.Conversations {
		d.described[c.Conversation] = c
	}
	return d
}

func (r *rig) connect(t testing.TB, user string, resume ...*wire.Resume) *device {
	t.Helper()
	return r.open(t, user, &wire.Hello{Resume: resume})
}

func (r *rig) open(t testing.TB, user string, h *wire.Hello) *device {
	t.Helper()
	server, client := net.Pipe()
	d := &device{t: t, user: user, conn: r.hub.NewConn(user, server, push.Binary), sock: client, frames: make(chan *wire.Frame, 8192)}
	go d.read()
	t.Cleanup(d.end)
	session, err := r.Connect(context.Background(), d.conn, h)
	if err != nil {
		t.Fatal(err)
	}
	d.session = session
	return d
}

func (d *device) end() {
	d.conn.Abort()
	if d.session != nil {
		d.session.Close()
	}
	d.sock.Close()
}

func (d *device) read() {
	r := wire.NewReader(d.sock, 512, 16<<20, false)
	defer close(d.frames)
	for {
		if stalled := d.stalled.Load(); stalled != nil {
			<-*stalled
		}
		op, payload, err := r.Next()
		if err != nil {
			return
		}
		var f *wire.Frame
		if op == ws.OpClose {
			code, reason := ws.ParseCloseFrameData(payload)
			f = &wire.Frame{Error: &wire.Error{Code: fmt.Sprintf("close %d", code), Message: reason}}
		} else {
			var v wire.View
			if err := v.Decode(payload); err != nil {
				panic(err)
			}
			if f, err = v.Frame(); err != nil {
				panic(err)
			}
		}
		d.frames <- f
	}
}

// stall makes the client read one frame more at most; unstall ends it.
func (d *device) stall() {
	gate := make(chan struct{})
	d.stalled.Store(&gate)
}

func (d *device) unstall() {
	close(*d.stalled.Swap(nil))
}

func (d *device) next() *wire.Frame {
	d.t.Helper()
	f, ok := <-d.frames
	if !ok {
		d.t.Fatalf("%s: connection ended", d.user)
	}
	return f
}

// quiet checks that nothing has arrived. Only under synctest, after Wait.
func (d *device) quiet() {
	d.t.Helper()
	select {
	case f := <-d.frames:
		d.t.Fatalf("%s: unexpected frame %v", d.user, f)
	default:
	}
}

func (d *device) handle(f *wire.Frame) {
	d.t.Helper()
	var v wire.View
	if err := v.SetFrame(f); err != nil {
		d.t.Fatal(err)
	}
	if err := d.session.Handle(context.Background(), &v); err != nil {
		d.t.Fatal(err)
	}
}

func (d *device) send(to, id string) {
	d.t.Helper()
	d.handle(&wire.Frame{Send: &wire.Send{Ref: 1, To: to, ClientMsgId: id, Body: "hi " + id}})
}

func (d *device) ack(conversation string, epoch, upTo uint64) {
	d.t.Helper()
	d.handle(&wire.Frame{Ack: &wire.Ack{Conversation: conversation, Epoch: epoch, UpTo: upTo}})
}

func (d *device) pull(conversation string, epoch, after uint64, limit uint32) *wire.Page {
	d.t.Helper()
	d.handle(&wire.Frame{PageRequest: &wire.PageRequest{Ref: 2, Conversation: conversation, Epoch: epoch, After: after, Limit: limit}})
	f := d.next()
	if f.Page == nil {
		d.t.Fatalf("got %v, want a page", f)
	}
	return f.Page
}

// welcome takes the welcome and returns its description of one conversation.
func (d *device) welcome(conversation string) *wire.Conversation {
	d.t.Helper()
	f := d.next()
	if f.Welcome == nil {
		d.t.Fatalf("got %v, want a welcome", f)
	}
	for _, c := range f.Welcome.Conversations {
		if c.Conversation == conversation {
			return c
		}
	}
	d.t.Fatalf("%s isn't in %v", conversation, f.Welcome)
	return nil
}

func (d *device) deliver(seq uint64) *wire.Deliver {
	d.t.Helper()
	f := d.next()
	if f.Deliver == nil || f.Deliver.Seq != seq {
		d.t.Fatalf("%s: got %v, want deliver %d", d.user, f, seq)
	}
	return f.Deliver
}

func (d *device) result(seq uint64) *wire.SendResult {
	d.t.Helper()
	f := d.next()
	if f.SendResult == nil || f.SendResult.Seq != seq {
		d.t.Fatalf("%s: got %v, want result %d", d.user, f, seq)
	}
	return f.SendResult
}

func (d *device) fault(code wire.Code) *wire.Error {
	d.t.Helper()
	f := d.next()
	if f.Error == nil || f.Error.Code != string(code) {
		d.t.Fatalf("%s: got %v, want error %s", d.user, f, code)
	}
	return f.Error
}

func mustAdd(t testing.TB, r *rig, group string, members ...string) {
	t.Helper()
	if _, err := r.AddMembers(context.Background(), group, members); err != nil {
		t.Fatal(err)
	}
}

func wantFault(t testing.TB, err error, code wire.Code) {
	t.Helper()
	if f := wire.AsFault(err); f == nil || f.Code != code {
		t.Errorf("got %v, want %s", err, code)
	}
}
