package delivery_test

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"ackmark/refserver/delivery"
	"ackmark/refserver/push"
	"ackmark/refserver/redisstore"
	"ackmark/refserver/wire"
)

// tb is what *testing.T and *rapid.T have in common.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

// world is a service on a real store, which dies and comes back.
type world struct {
	t        tb
	cfg      delivery.Config
	storeCfg redisstore.Config

	store *redisstore.Store
	hub   *push.Hub
	svc   *delivery.Service
}

func newWorld(t tb, url, namespace string, cfg delivery.Config) *world {
	w := &world{t: t, cfg: cfg, storeCfg: redisstore.Config{
		URL: url, Namespace: namespace, DedupFor: time.Hour, SenderIndex: cfg.SenderIndex, DedupOff: cfg.DedupOff, PoolSize: 3,
	}}
	w.start()
	return w
}

// worldOf is a world that ends with its test.
func worldOf(t *testing.T, url string, cfg delivery.Config) *world {
	w := newWorld(t, url, "am", cfg)
	t.Cleanup(w.crash)
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%v", err)
	}
}

func (w *world) start() {
	w.t.Helper()
	log := slog.New(slog.DiscardHandler)
	store, err := redisstore.New(w.storeCfg, log)
	w.must(err)
	w.store, w.hub = store, push.New(push.Config{Retransmit: -1, Flushers: 1})
	w.svc = delivery.New(w.cfg, store, w.hub, log)
	w.must(store.Start(context.Background(), w.svc))
	w.hub.Start(w.svc)
	w.must(w.svc.Start(context.Background()))
}

// crash ends the service without flushing what its acks have moved.
func (w *world) crash() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w.hub.Close(ctx, ws.StatusGoingAway, "crash")
	_ = w.svc.Close(ctx)
	_ = w.store.Close(ctx)
}

func (w *world) users(users ...string) {
	w.t.Helper()
	w.must(w.svc.CreateUsers(context.Background(), users))
}

func (w *world) send(sender, to, id string) *wire.SendResult {
	w.t.Helper()
	got, err := w.svc.Send(context.Background(), sender, &wire.Send{To: to, ClientMsgId: id, Body: "body of " + id})
	w.must(err)
	return got
}

// rows are the seqs that are stored in an inbox.
func (w *world) rows(inbox string) []uint64 {
	w.t.Helper()
	log, err := w.store.Open(context.Background(), inbox)
	w.must(err)
	entries, err := w.store.Read(context.Background(), inbox, log.Epoch, 0, 1<<20)
	w.must(err)
	seqs := []uint64{}
	for _, e := range entries {
		seqs = append(seqs, e.Seq)
	}
	return seqs
}

// phone is a client on net.Pipe that keeps every frame it gets.
type phone struct {
	w       *world
	user    string
	conn    *push.Conn
	sock    net.Conn
	session *delivery.Session
	frames  chan *wire.Frame
	done    chan struct{}
}

// login connects; the welcome is the first frame.
func (w *world) login(user string, hello *wire.Hello) *phone {
	w.t.Helper()
	server, client := net.Pipe()
	p := &phone{w: w, user: user, conn: w.hub.NewConn(user, server, push.Binary), sock: client,
		frames: make(chan *wire.Frame, 4096), done: make(chan struct{})}
	go p.read()
	session, err := w.svc.Connect(context.Background(), p.conn, hello)
	w.must(err)
	p.session = session
	return p
}

func (p *phone) read() {
	defer close(p.done)
	defer close(p.frames)
	r := wire.NewReader(p.sock, 4096, 16<<20, false)
	for {
		op, payload, err := r.Next()
		if err != nil || op == ws.OpClose {
			return
		}
		var v wire.View
		if v.Decode(payload) != nil {
			return
		}
		f, err := v.Frame()
		if err != nil {
			return
		}
		p.frames <- f
	}
}

// end is what a crash of the client does to the connection.
func (p *phone) end() {
	p.conn.Abort()
	p.session.Close()
	p.sock.Close()
	<-p.done
}

func (p *phone) handle(f *wire.Frame) {
	p.w.t.Helper()
	var v wire.View
	p.w.must(v.SetFrame(f))
	p.w.must(p.session.Handle(context.Background(), &v))
}

func (p *phone) next() *wire.Frame {
	p.w.t.Helper()
	select {
	case f, ok := <-p.frames:
		if ok {
			return f
		}
		p.w.t.Fatalf("%s: the connection has ended", p.user)
	case <-time.After(20 * time.Second):
		p.w.t.Fatalf("%s: no frame", p.user)
	}
	return nil
}

func (p *phone) welcome() *wire.Conversation {
	p.w.t.Helper()
	f := p.next()
	if f.Welcome == nil {
		p.w.t.Fatalf("got %v, want a welcome", f)
	}
	for _, c := range f.Welcome.Conversations {
		if c.Conversation == wire.Inbox(p.user) {
			return c
		}
	}
	p.w.t.Fatalf("no inbox in %v", f.Welcome)
	return nil
}

// request sends one request and returns its answer; live hands on what is
// pushed before it.
func (p *phone) request(f *wire.Frame, live func(*wire.Deliver)) *wire.Frame {
	p.w.t.Helper()
	p.handle(f)
	for {
		switch f := p.next(); {
		case f.Deliver != nil && live != nil:
			live(f.Deliver)
		case f.PullNow != nil:
		case f.Error != nil:
			p.w.t.Fatalf("%s: %v", p.user, f.Error)
		default:
			return f
		}
	}
}
