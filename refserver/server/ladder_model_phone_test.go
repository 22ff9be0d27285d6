package server

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"github.com/gobwas/ws"

	"ackmark/refserver/gateway"
	"ackmark/refserver/wire"
)

// modelPhone is one user's connection: it reads all the time, and what was
// pushed waits in pending until its user takes it in.
type modelPhone struct {
	u      *modelUser
	sock   net.Conn
	frames chan *wire.Frame // nil for a pong
	self   bool             // live from the head on: pulls what lies below by itself

	pending []*wire.Frame     // deliveries, in the order of their arrival
	state   map[string]string // conversation → live, behind, count-only: as the server has told
	at      map[string]uint64 // what pushes follow on
	before  map[string]uint64 // newest first: where the next page ends, 0: at the head
}

func (w *ladder) token(user string) string {
	token, err := gateway.NewTokens(DevSecret, time.Now).Mint(user, time.Hour)
	w.must(err)
	return token
}

func (w *ladder) dial(u *modelUser) *modelPhone {
	d := ws.Dialer{Timeout: patience, Header: ws.HandshakeHeaderHTTP(http.Header{"Authorization": {"Bearer " + w.token(u.name)}})}
	sock, early, _, err := d.Dial(context.Background(), "ws://"+w.srv.Addr()+"/v1/connect")
	w.must(err)
	p := &modelPhone{u: u, sock: sock, frames: make(chan *wire.Frame, 4096),
		state: map[string]string{}, at: map[string]uint64{}, before: map[string]uint64{}}
	r := wire.NewReader(sock, 4096, 16<<20, false)
	if early != nil {
		b, _ := early.Peek(early.Buffered())
		r.Preload(b)
	}
	go p.read(r)
	return p
}

func (p *modelPhone) read(r *wire.Reader) {
	defer close(p.frames)
	defer p.sock.Close() // the answer to a close
	for {
		op, payload, err := r.Next()
		switch {
		case err != nil || op == ws.OpClose:
			return
		case op == ws.OpPong:
			p.frames <- nil
			continue
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

func (p *modelPhone) write(f *wire.Frame) {
	b, err := wire.AppendFrame(nil, f)
	p.u.w.must(err)
	_, err = p.sock.Write(wire.AppendMasked(nil, ws.OpBinary, b, rand.Uint32()))
	p.u.w.must(err)
}

// next returns the next frame; open is false once the connection has ended.
func (p *modelPhone) next() (f *wire.Frame, open bool) {
	select {
	case f, open = <-p.frames:
		return f, open
	case <-time.After(patience):
		p.u.w.rt.Fatalf("%s: no frame", p.u.name)
		return nil, false
	}
}

// request sends one request and returns its answer; what was pushed before it
// has arrived then.
func (p *modelPhone) request(f *wire.Frame) *wire.Frame {
	p.write(f)
	for {
		switch f, open := p.next(); {
		case !open:
			p.u.w.rt.Fatalf("%s: the connection has ended", p.u.name)
		case f == nil:
		case f.Error != nil:
			p.u.w.rt.Fatalf("%s: %v", p.u.name, f.Error)
		case f.Deliver != nil || f.PullNow != nil:
			p.arrived(f)
		default:
			return f
		}
	}
}

// settle waits for all that the server has queued.
func (p *modelPhone) settle() {
	_, err := p.sock.Write(wire.AppendMasked(nil, ws.OpPing, nil, 1))
	p.u.w.must(err)
	for {
		switch f, open := p.next(); {
		case !open:
			p.u.w.rt.Fatalf("%s: the connection has ended", p.u.name)
		case f == nil:
			return
		default:
			p.arrived(f)
		}
	}
}

// ended takes what arrives until the server has closed the connection.
func (p *modelPhone) ended() {
	for {
		f, open := p.next()
		if !open {
			p.sock.Close()
			return
		}
		if f != nil && (f.Deliver != nil || f.PullNow != nil) {
			p.arrived(f)
		}
	}
}

// hangUp ends the connection and waits until the server has noticed.
func (p *modelPhone) hangUp() {
	p.sock.Close()
	for range p.frames {
	}
	p.u.w.eventually("the server notices that "+p.u.name+" is gone", func() bool { return p.u.w.srv.hub.Online(p.u.name) == nil })
}

// arrived checks what is pushed: to who is live, each message of others right
// after the one before.
func (p *modelPhone) arrived(f *wire.Frame) {
	w := p.u.w
	if f.PullNow != nil {
		if p.state[f.PullNow.Conversation] != "count-only" {
			p.state[f.PullNow.Conversation] = "behind"
		}
		return
	}
	d := f.Deliver
	if d == nil {
		w.rt.Fatalf("%s: got %v", p.u.name, f)
	}
	switch state, at := p.state[d.Conversation], p.at[d.Conversation]; {
	case state != "live":
		w.rt.Fatalf("%s: %s is %s, and %d is pushed", p.u.name, d.Conversation, state, d.Seq)
	case d.Seq <= at:
		w.rt.Fatalf("%s: %s: %d is pushed after %d", p.u.name, d.Conversation, d.Seq, at)
	default:
		for seq := at + 1; seq < d.Seq; seq++ {
			if m := w.convs[d.Conversation].bySeq[seq]; m != nil && m.sender != p.u.name {
				w.rt.Fatalf("%s: %s: %d is pushed after %d, which leaves out %v", p.u.name, d.Conversation, d.Seq, at, m)
			}
		}
	}
	p.at[d.Conversation] = d.Seq
	p.pending = append(p.pending, f)
	p.u.reached(d)
}

// covered notes what a page does to the pushes behind it.
func (p *modelPhone) covered(conversation string, page *wire.Page, newest bool) {
	if page.Sender != "" || p.state[conversation] != "behind" {
		return
	}
	if page.UpTo >= p.u.w.convs[conversation].head {
		p.state[conversation], p.at[conversation] = "live", page.UpTo
	} else if !newest {
		p.at[conversation] = max(p.at[conversation], page.UpTo)
	}
}
