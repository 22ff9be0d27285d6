package server

import (
	goflag "flag"
	"fmt"
	"os"
	"testing"

	"pgregory.net/rapid"

	"ackmark/refserver/delivery"
	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

// Random histories of each rung agree with a model: sends and resends, pushes,
// pulls in every way of the rung, acks, crashes of clients with what they
// hadn't taken in, of the server in good order, hard, and in the middle of
// sends, of Redis, and trims. What is stored is what the rung says, message by
// message; nobody is shown anything twice; and what is lost is exactly what a
// crash has dropped on a rung that removes on pull, or that doesn't store what
// it pushes; nothing on any other. With a time as the cursor only messages of
// one millisecond may be lost, or come again.
//
// ACKMARK_LONG=1 takes 100 long histories of each rung, -rapid.checks any number.
func TestLadder(t *testing.T) {
	steps := 40
	switch {
	case os.Getenv("ACKMARK_LONG") != "":
		steps = 80
	case testing.Short():
		steps = 15
		setFlag(t, "rapid.checks", 5) // rapid takes a fifth
	default:
		setFlag(t, "rapid.checks", 1)
	}
	redis := redistest.Start(t, redistest.AOF("always"))
	histories := 0
	for _, g := range modelRungs() {
		t.Run(g.name, func(t *testing.T) {
			total := map[string]uint64{}
			defer func() { t.Log(total) }()
			rapid.Check(t, func(rt *rapid.T) {
				histories++
				w := newLadder(rt, g.filled(), redis, fmt.Sprint("h", histories))
				w.total = total
				defer w.end()
				w.run(steps)
				w.audit()
			})
		})
	}
}

// setFlag sets one of rapid's flags for one test, unless the command line has.
func setFlag(t *testing.T, name string, v int) {
	t.Helper()
	given := false
	goflag.Visit(func(f *goflag.Flag) { given = given || f.Name == name })
	if given {
		return
	}
	f := goflag.Lookup(name)
	was := f.Value.String()
	if err := f.Value.Set(fmt.Sprint(v)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(was) })
}

// step is something that may happen next, as often as its weight says.
type step struct {
	weight int
	name   string
	run    func(rt *rapid.T)
}

// steps are those that are possible now.
func (w *ladder) steps(online, offline, reached []*modelUser) []step {
	steps := []step{
		{16, "send", w.send},
		{8, "pull", func(rt *rapid.T) { w.anyone(rt, "user").pull(rt) }},
		{6, "ack", func(rt *rapid.T) { w.anyone(rt, "user").ack(rt) }},
		{1, "counts", func(rt *rapid.T) { w.anyone(rt, "user").counts() }},
		{1, "trim", func(*rapid.T) { w.trim() }},
		{1, "restart", func(rt *rapid.T) { w.restart(rt, rapid.Bool().Draw(rt, "hard")) }},
		{1, "storm", w.storm},
	}
	if oneIn(w.rt, 4, "as well") {
		steps = append(steps, step{1, "redis", w.redisRestart})
	}
	if len(offline) > 0 {
		steps = append(steps, step{4 * len(offline), "login", func(rt *rapid.T) { pick(rt, offline, "user").login(rt) }})
	}
	if len(reached) > 0 {
		steps = append(steps, step{6, "receive", func(rt *rapid.T) {
			u := pick(rt, reached, "user")
			u.receive(between(rt, 1, len(u.phone.pending), "messages"))
		}})
	}
	if len(online) > 0 {
		steps = append(steps,
			step{2, "open or close", func(rt *rapid.T) { pick(rt, online, "user").setOpen(rt) }},
			step{1, "crash", func(rt *rapid.T) { pick(rt, online, "user").fall(rt) }},
			step{1, "logout", func(rt *rapid.T) {
				u := pick(rt, online, "user")
				u.receive(len(u.phone.pending))
				u.fall(rt)
			}})
	}
	return steps
}

// run takes random steps, and looks at the store after each.
func (w *ladder) run(steps int) {
	for range steps {
		var online, offline, reached, weighted = []*modelUser{}, []*modelUser{}, []*modelUser{}, []step{}
		for _, u := range w.users {
			switch {
			case u.phone == nil:
				offline = append(offline, u)
			case len(u.phone.pending) > 0:
				reached = append(reached, u)
				fallthrough
			default:
				online = append(online, u)
			}
		}
		for _, s := range w.steps(online, offline, reached) {
			for range s.weight {
				weighted = append(weighted, s)
			}
		}
		pick(w.rt, weighted, "step").run(w.rt)
		w.check()
	}
}

// audit lets everybody pull and ack what is left, and accounts for every
// message that was answered.
func (w *ladder) audit() {
	for _, u := range w.users {
		u.finish()
	}
	w.check()
	for _, u := range w.users {
		for _, name := range u.conversations() {
			s := u.saved[name]
			for _, m := range w.convs[name].sent {
				_, shown := s.shown[m.key]
				w.count(shown, m.sender == u.name, s.gone[m.key] != "")
				switch {
				case m.sender == u.name || shown || s.gone[m.key] != "":
				case s.may[m.key] && !w.rung.times():
				case s.may[m.key] && w.tie(u, name, m):
				default:
					w.rt.Fatalf("%s: %s %d (%s) is lost", u, name, m.seq, m.key)
				}
				if why := s.gone[m.key]; why != "" && !w.loses(name) {
					w.rt.Fatalf("%s: %s %d (%s) is lost where nothing may be: %s", u, name, m.seq, m.key, why)
				}
			}
		}
	}
}

// count adds to what a rung's histories had in all: too little of it, and they
// prove nothing.
func (w *ladder) count(shown, own, gone bool) {
	w.total["expected"]++
	switch {
	case own:
		w.total["own"]++
	case shown && gone:
		w.rt.Fatal("shown, and lost")
	case shown:
		w.total["shown"]++
	case gone:
		w.total["lost"]++
	}
}

// loses says whether the rung may lose messages of a conversation.
func (w *ladder) loses(name string) bool {
	return w.rung.rows(name) && (w.rung.onPull() || w.rung.storeFor == delivery.StoreForOffline) || w.cfg.Retention > 0 && name[0] == 'g'
}

// tie says whether a message has another one of its millisecond before it.
func (w *ladder) tie(u *modelUser, name string, m *modelMessage) bool {
	before := w.convs[name].bySeq[m.seq-1]
	return before != nil && w.timeOf(name, before) == w.timeOf(name, m)
}

// finish takes in and acks everything that is left for a user.
func (u *modelUser) finish() {
	w := u.w
	if u.phone != nil {
		u.receive(len(u.phone.pending))
		u.phone.hangUp()
		u.phone = nil
	}
	u.connect(&wire.Hello{})
	for _, name := range u.conversations() {
		for more := true; more; {
			r := &wire.PageRequest{Limit: 50}
			p := u.page(name, r)
			u.takePage(name, r, p, -1)
			more = p.More
		}
		if s := u.saved[name]; !w.rung.onPull() && s.watermark() > 0 {
			if s.watermark() != w.convs[name].head {
				w.rt.Fatalf("%s: everything of %s was pulled, and the watermark is %d of %d", u, name, s.watermark(), w.convs[name].head)
			}
			u.phone.request(&wire.Frame{Ack: &wire.Ack{Ref: 1, Conversation: name, Epoch: s.epoch, UpTo: s.watermark()}})
			u.acked(name, s.watermark())
		}
	}
	if !w.rung.onPull() {
		for _, name := range u.conversations() {
			if rows := u.rows[name]; len(rows) > 0 {
				w.rt.Fatalf("%s: %s: all is acked, and %v are left", u, name, rows)
			}
		}
	}
	u.phone.hangUp()
	u.phone = nil
}

// GoString names a step and a user where rapid shows what it has drawn.
func (s step) GoString() string       { return s.name }
func (u *modelUser) GoString() string { return u.name }
