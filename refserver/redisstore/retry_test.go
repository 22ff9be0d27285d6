package redisstore

import (
	"context"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"reflect"
	"runtime"
	"sync"
	"testing"
	"time"

	"ackmark/refserver/delivery"
	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

// proxy stands between a store and Redis and drops connections at will.
type proxy struct {
	t        testing.TB
	listener net.Listener
	redis    string
	wg       sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool // guarded by mu: both ends
	lose  int               // guarded by mu: answers to lose, with their connection, after keep bytes
	keep  int               // guarded by mu
	pass  int               // guarded by mu: answers to forward before any is lost
	hang  bool              // guarded by mu: answers are swallowed, connections stay
}

func newProxy(t testing.TB, redis string) *proxy {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "p"))
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, listener: l, redis: redis, conns: map[net.Conn]bool{}}
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		l.Close()
		p.mu.Lock()
		for c := range p.conns {
			c.Close()
		}
		p.mu.Unlock()
		p.wg.Wait()
	})
	return p
}

func (p *proxy) url() string { return "unix://" + p.listener.Addr().String() }

// loseAnswers makes the proxy forward the next n answers only up to keep bytes
// and then drop the connection: Redis has run what the store can't know of.
func (p *proxy) loseAnswers(n, keep int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lose, p.keep = n, keep
}

// loseLater loses one answer after some others.
func (p *proxy) loseLater(pass, keep int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lose, p.keep, p.pass = 1, keep, pass
}

func (p *proxy) setHang(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hang = on
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", p.redis)
		if err != nil {
			client.Close()
			continue
		}
		p.mu.Lock()
		p.conns[client], p.conns[server] = true, true
		p.mu.Unlock()
		done := func() { client.Close(); server.Close() }
		p.wg.Go(func() { defer done(); io.Copy(server, client) })
		p.wg.Go(func() { defer done(); p.answers(client, server) })
	}
}

func (p *proxy) answers(client, server net.Conn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := server.Read(buf)
		if err != nil {
			return
		}
		p.mu.Lock()
		hang, lose := p.hang, p.lose > 0 && p.pass == 0
		p.pass = max(0, p.pass-1)
		if lose {
			p.lose--
			n = min(n, p.keep)
		}
		p.mu.Unlock()
		if hang {
			continue
		}
		if _, err := client.Write(buf[:n]); err != nil || lose {
			return
		}
	}
}

// A batch whose connection drops after Redis has run it, or part of whose
// answers arrived, is stored once, and its sends aren't called duplicates:
// nobody has heard of them yet.
func TestRetriedBatch(t *testing.T) {
	for _, keep := range []int{0, 10} { // nothing, and two and a half answers (":1\r\n")
		t.Run(fmt.Sprintf("%d bytes of the answer arrive", keep), func(t *testing.T) {
			r := redistest.Start(t)
			p := newProxy(t, r.Socket())
			f := startStore(t, Config{URL: p.url(), DedupFor: time.Minute, Shards: 1})
			g := f.group("g", "alice", "bob")
			f.must(f.CreateUsers(f.ctx, []string{"carol"}))
			if a := f.send(g, "bob", "before"); a.Seq != 1 {
				t.Fatalf("%+v", a)
			}
			const sends = 9
			batch := make([]*delivery.Append, sends)
			replies := make(chan *delivery.Append, sends+2)
			for i := range batch {
				batch[i], _ = newAppend(g, "alice", fmt.Sprint(i))
				batch[i].Reply = replies
			}
			resend, _ := newAppend(g, "bob", "before") // a true duplicate among them
			stranger, _ := newAppend(g, "mallory", "x")
			resend.Record = []byte("resent a little later")
			resend.Reply, stranger.Reply = replies, replies
			batch = append(batch, resend, stranger)

			calls := r.CommandStats()["evalsha"]
			p.loseAnswers(1, keep)
			f.store(f.shards[0], batch) // as the gatherer does
			if n := r.CommandStats()["evalsha"] - calls; n < 2*sends-3 {
				t.Fatalf("%d calls: Redis didn't run the batch twice", n)
			}
			for range batch {
				await(t, replies)
			}
			for i, a := range batch[:sends] {
				if a.Err != nil || a.Seq != uint64(i+2) || a.Duplicate || a.OwnGap {
					t.Fatalf("send %d: seq %d duplicate %v (%v), want seq %d, new", i, a.Seq, a.Duplicate, a.Err, i+2)
				}
			}
			if resend.Seq != 1 || !resend.Duplicate {
				t.Fatalf("resend: %+v, want seq 1, duplicate", resend)
			}
			wantCode(t, stranger.Err, wire.CodeNotMember)
			if got := f.seqs(g); len(got) != sends+1 {
				t.Fatalf("stored %v, want 1 to %d", got, sends+1)
			}
			f.sink.mu.Lock()
			order := f.sink.order[g]
			f.sink.mu.Unlock()
			if want := []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}; !reflect.DeepEqual(order, want) {
				t.Fatalf("reported %v, want %v", order, want)
			}

			// The attempt that wasn't heard of filled the own gap as well.
			f.move(g, "alice", sends+1)
			p.loseAnswers(1, keep)
			last, _ := newAppend(g, "alice", "last")
			f.store(f.shards[0], []*delivery.Append{last})
			if last.Err != nil || last.Seq != sends+2 || !last.OwnGap || f.cursor(g, "alice") != sends+2 {
				t.Fatalf("%+v", last)
			}

			// The same for an inbox.
			p.loseAnswers(1, keep)
			a, _ := newAppend("u:carol", "alice", "x")
			f.store(f.shards[0], []*delivery.Append{a})
			if a.Err != nil || a.Seq != 1 || a.Duplicate || len(f.seqs("u:carol")) != 1 {
				t.Fatalf("inbox: %+v", a)
			}
			if f.Stats().Retries == 0 {
				t.Fatal("no retries counted")
			}
		})
	}
}

// Everything else is tried again as well.
func TestRetriedCalls(t *testing.T) {
	r := redistest.Start(t)
	p := newProxy(t, r.Socket())
	f := startStore(t, Config{URL: p.url(), DedupFor: time.Minute})
	g := f.group("g", "alice", "bob")
	f.sent(g, "alice", "1")
	f.sent("u:bob", "alice", "1")
	for name, op := range map[string]func() error{
		"open":   func() error { _, err := f.Open(f.ctx, g); return err },
		"read":   func() error { _, err := f.Read(f.ctx, g, f.Epoch(), 0, 9); return err },
		"login":  func() error { _, err := f.Login(f.ctx, "bob"); return err },
		"move":   func() error { return f.Move(f.ctx, g, f.Epoch(), []delivery.Move{{User: "bob", UpTo: 1}}) },
		"remove": func() error { return f.remove("u:bob", f.Epoch(), 1, nil) },
		"trim":   func() error { _, err := f.Trim(f.ctx, g, f.Epoch(), 0); return err },
		"users":  func() error { return f.CreateUsers(f.ctx, []string{"carol", "dave"}) },
		"ping":   func() error { return f.Ping(f.ctx) },
	} {
		p.loseAnswers(3, 0)
		if err := op(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if c := f.cursor(g, "bob"); c != 1 {
		t.Errorf("cursor %d", c)
	}
}

// Redis away: sends wait for it until their deadline, and are then answered.
func TestRedisAway(t *testing.T) {
	r := redistest.Start(t, redistest.AOF("always"))
	f := startStore(t, Config{URL: r.URL(), DedupFor: time.Minute})
	g := f.group("g", "alice")
	f.sent(g, "alice", "1")
	r.Kill()
	batches := f.Stats().Batches

	patient, patientReply := newAppend(g, "alice", "patient")
	f.must(f.Append(patient))
	for f.Stats().Batches < batches+1 { // the patient one is being tried: what comes now waits behind it
		runtime.Gosched()
	}
	hasty, hastyReply := newAppend(g, "alice", "hasty")
	hasty.Deadline = time.Now().Add(50 * time.Millisecond)
	f.must(f.Append(hasty))
	wantCode(t, await(t, hastyReply).Err, wire.CodeUnavailable)

	short, cancel := context.WithTimeout(f.ctx, 50*time.Millisecond)
	defer cancel()
	_, err := f.Open(short, g)
	wantCode(t, err, wire.CodeUnavailable)
	wantCode(t, f.Ping(short), wire.CodeUnavailable)

	r.Restart()
	if a := await(t, patientReply); a.Err != nil || a.Seq != 2 {
		t.Fatalf("%+v, want seq 2", a)
	}
	if a := f.send(g, "alice", "hasty"); a.Err != nil || a.Seq != 3 {
		t.Fatalf("resend: %+v, want seq 3", a)
	}
}

// A Redis that doesn't answer holds nobody longer than the deadline, nor Close.
func TestRedisHangs(t *testing.T) {
	r := redistest.Start(t)
	p := newProxy(t, r.Socket())
	f := startStore(t, Config{URL: p.url(), DedupFor: time.Minute})
	g := f.group("g", "alice")
	p.setHang(true)
	a, reply := newAppend(g, "alice", "1")
	a.Deadline = time.Now().Add(100 * time.Millisecond)
	begin := time.Now()
	f.must(f.Append(a))
	wantCode(t, await(t, reply).Err, wire.CodeUnavailable)
	if took := time.Since(begin); took > 2*time.Second {
		t.Fatalf("answered after %v, deadline 100ms", took)
	}
	stuck, stuckReply := newAppend(g, "alice", "2")
	f.must(f.Append(stuck))
	ctx, cancel := context.WithTimeout(f.ctx, 50*time.Millisecond)
	defer cancel()
	begin = time.Now()
	f.must(f.Close(ctx))
	if took := time.Since(begin); took > 2*time.Second {
		t.Fatalf("closed after %v, limit 50ms", took)
	}
	wantCode(t, await(t, stuckReply).Err, wire.CodeUnavailable)
	p.setHang(false)
}

// A Redis that is full says no at once, and says yes again later.
func TestOutOfMemory(t *testing.T) {
	r := redistest.Start(t)
	f := startStore(t, Config{URL: r.URL(), DedupFor: time.Minute})
	g := f.group("g", "alice", "bob")
	f.must(r.Client().ConfigSet(f.ctx, "maxmemory", "1mb").Err())
	begin := time.Now()
	wantCode(t, f.send(g, "alice", "1").Err, wire.CodeUnavailable)
	wantCode(t, f.Move(f.ctx, g, f.Epoch(), []delivery.Move{{User: "bob", UpTo: 1}}), wire.CodeUnavailable)
	if took := time.Since(begin); took > waitFor/2 {
		t.Fatalf("took %v; a full Redis is no reason to wait", took)
	}
	f.must(r.Client().ConfigSet(f.ctx, "maxmemory", "0").Err())
	if seq := f.sent(g, "alice", "1"); seq != 1 {
		t.Fatalf("seq %d: a refused send left something behind", seq)
	}
}

// A defect is told as one, and not tried again.
func TestWrongType(t *testing.T) {
	r := redistest.Start(t)
	f := startStore(t, Config{URL: r.URL(), DedupFor: time.Minute})
	g := f.group("g", "alice")
	f.must(r.Client().Set(f.ctx, f.keys.key(g, "log"), "x", 0).Err())
	wantCode(t, f.send(g, "alice", "1").Err, wire.CodeInternal)
	_, err := f.Open(f.ctx, g)
	wantCode(t, err, wire.CodeInternal)
}
