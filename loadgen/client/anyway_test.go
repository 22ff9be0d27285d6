package client

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"ackmark/loadgen/client/ackpolicy"
	"ackmark/loadgen/client/dedup"
	"ackmark/refserver/wire"
)

// TestAnyStrategyLosesNothing throws messages, lost and swapped pushes,
// redeliveries, dropped connections, power cuts and crashes on purpose at a
// device that pulls, acks, dedups and resumes in any way: what the server has is
// shown in the end, once and in order, and nothing is acked before it is shown.
func TestAnyStrategyLosesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg := Config{
			Resume: rapid.SampledFrom([]Resume{FromCursor, FromWatermark}).Draw(rt, "resume"),
			Hold:   rapid.IntRange(1, 5).Draw(rt, "hold"),
			Ack:    ackpolicy.Policy{Kind: ackpolicy.Count, Every: rapid.IntRange(1, 4).Draw(rt, "every")},
			Dedup:  dedup.Config{Mode: rapid.SampledFrom([]dedup.Mode{dedup.Watermark, dedup.Set}).Draw(rt, "dedup")},
			Seed:   rapid.Uint64().Draw(rt, "seed"),
			Pull: Pulling{
				Mode:     rapid.SampledFrom([]PullMode{PullPaged, PullAll, PullPerFriend, PullCountsFirst}).Draw(rt, "mode"),
				Groups:   rapid.SampledFrom([]GroupPull{PerGroup, AllGroups, OnDemand}).Draw(rt, "groups"),
				Order:    rapid.SampledFrom([]Order{Oldest, Newest}).Draw(rt, "order"),
				Ack:      rapid.SampledFrom([]PullAck{AckNextPage, AckPage, AckEachMessage}).Draw(rt, "ack"),
				Open:     float64(rapid.IntRange(0, 3).Draw(rt, "thirds open")) / 3,
				Page:     rapid.IntRange(1, 4).Draw(rt, "page"),
				Parallel: rapid.IntRange(1, 3).Draw(rt, "parallel"),
			},
		}
		if cfg.Pull.Groups == AllGroups {
			cfg.Pull.Order = Oldest
		}
		if point := rapid.SampledFrom([]CrashPoint{NoCrash, PullAndAck, ReceiveAndAck, MidSync}).Draw(rt, "crash"); point != NoCrash {
			some := rapid.SliceOfN(rapid.Bool(), 8, 8).Draw(rt, "logins that crash")
			cfg.Crash = Crashing{Point: point, Decide: func(_, login int) bool { return login < len(some) && some[login] }}
		}
		steps := rapid.SliceOfN(rapid.IntRange(0, 17), 1, 60).Draw(rt, "steps")
		taker := rapid.Bool().Draw(rt, "told of what is in order in one call")
		waits := rapid.IntRange(0, 12).Draw(rt, "waits at the first login")

		r := &rig{cfg: cfg, w: newWitness()}
		play(t, cfg, func(sc *scene) { r.play(sc, taker, waits, steps) })
		if r.w.wrong != "" {
			rt.Fatal(r.w.wrong)
		}
		if r.m.wrong != "" {
			rt.Fatal(r.m.wrong)
		}
		r.verdict(rt)
	})
}

// rig is one run of TestAnyStrategyLosesNothing.
type rig struct {
	cfg Config
	*scene
	w *witness
	m *model
	p *peer

	stored []string // ids of all messages
	from   map[string]uint64
	bad    string
}

var rigNames = []string{inbox, "g:a", "g:b"}

func (r *rig) play(sc *scene, taker bool, waits int, steps []int) {
	r.scene = sc
	r.m = &model{epoch: 1, page: 3, friends: names("f", 4), shown: func(id string) bool { return r.w.shown[id] > 0 }}
	sc.dev.cfg.Observer = r.w
	if taker {
		sc.dev.taker = r.w
	}
	for _, n := range rigNames {
		r.m.shelf(n)
	}
	for i := range waits {
		r.store(i, false, false)
	}
	r.begin()
	for i, step := range steps {
		r.step(i, step)
		r.mend()
	}
	for again := true; again; {
		again = r.settle()
		for _, n := range rigNames[1:] {
			_ = r.dev.Open(n)
		}
		again = r.settle() || again
	}
	if err := r.dev.Close(sc.Context()); err != nil {
		r.bad = err.Error()
	}
	r.m.serve(r.p)
}

func (r *rig) step(i, step int) {
	c := r.m.shelf(rigNames[i%len(rigNames)])
	switch {
	case step <= 4: // a new message
		r.store(i, true, false)
	case step == 5: // its push gets lost
		r.store(i, true, true)
	case step == 6: // pushed again
		var again []row
		for _, x := range c.rows {
			if x.seq > r.from[c.name] && x.seq <= c.pushed {
				again = append(again, x)
			}
		}
		if c.state == "live" && len(again) > 0 {
			r.put(r.m.push(c, again[i%len(again)]))
		}
	case step == 7:
		r.pullNow(c)
	case step == 8: // two swapped
		a, b := r.make(i, true, false), r.make(i, true, false)
		if a != nil && b != nil {
			r.put(b, a)
		}
	case step == 9:
		r.m.serve(r.p)
		r.drop()
	case step == 10: // in the middle of things
		r.drop()
	case step == 11:
		r.dev.Crash()
		r.again()
	case step == 12 && i%2 == 0:
		_ = r.dev.Open(rigNames[1+i%2])
	case step == 12:
		_ = r.dev.CloseConversation(rigNames[1+i%2])
	case step == 13:
		r.m.serve(r.p)
	case step == 14: // the store loses its tail, in passing or not
		r.cut(c, uint64(i%3))
		if i%2 == 0 {
			r.drop()
		}
	default: // one frame
		synctest.Wait()
		if len(r.p.frames) > 0 {
			if f, ok := <-r.p.frames; ok {
				r.put(r.m.answer(f))
			}
		}
	}
}

func (r *rig) put(f ...*wire.Frame) {
	if f[0] != nil {
		_ = r.p.try(f...)
	}
}

// make stores a message and returns its push.
func (r *rig) make(i int, up, lose bool) *wire.Frame {
	c := r.m.shelf(rigNames[i%len(rigNames)])
	f := r.m.store(c.name, r.m.friends[i/2%len(r.m.friends)], up && !r.dead(), lose)
	r.stored = append(r.stored, fmt.Sprintf("%s.%d", c.name, c.n))
	return f
}

func (r *rig) store(i int, up, lose bool) { r.put(r.make(i, up, lose)) }

// pullNow tells a device to pull. It may have missed anything since its login.
func (r *rig) pullNow(c *shelf) {
	if c.state == "count-only" {
		return
	}
	r.put(&wire.Frame{PullNow: &wire.PullNow{Conversation: c.name, Epoch: r.m.epoch, Head: c.head}})
}

func (r *rig) dead() bool {
	synctest.Wait()
	select {
	case <-r.dev.Done():
		return true
	default:
		return false
	}
}

func (r *rig) begin() {
	started := make(chan error, 1)
	dev := r.dev
	go func() { started <- dev.Start(r.Context()) }()
	r.accept()
	<-started
}

// cut begins an epoch; what is gone with it can't be asked of the device.
func (r *rig) cut(c *shelf, n uint64) {
	var gone []string
	for _, x := range c.rows {
		if x.seq+n > c.head {
			gone = append(gone, x.id)
		}
	}
	r.m.cut(c, n)
	r.stored = slices.DeleteFunc(r.stored, func(id string) bool { return slices.Contains(gone, id) })
}

// mend goes on after whatever has ended the connection, if something has.
func (r *rig) mend() bool {
	switch {
	case r.dead():
		r.again()
	case r.p.gone.Load(): // the device has broken it off to begin again
		r.accept()
	default:
		return false
	}
	return true
}

func (r *rig) drop() {
	if !r.dead() {
		r.dev.Drop()
		r.accept()
	}
}

// again goes on with what a device had persisted that has crashed.
func (r *rig) again() {
	r.dev.Crash()
	r.dev = r.dev.DeviceFrom(r.dev.id, r.dev.Saved())
	r.begin()
}

func (r *rig) accept() {
	r.p = <-r.srv.conns
	hello := r.p.next().Hello
	w := r.m.welcome(hello)
	r.from = map[string]uint64{}
	for _, c := range r.m.shelves {
		c.pushed = 0
		if hello.Live {
			r.from[c.name] = c.head
		}
	}
	_ = r.p.try(w)
}

// settle lets everything be pulled that a device can know of. It may take a
// connection of its own.
func (r *rig) settle() (again bool) {
	r.m.serve(r.p)
	for _, c := range r.m.shelves {
		r.pullNow(c)
	}
	r.m.serve(r.p)
	time.Sleep(time.Minute) // whatever is retried
	r.m.serve(r.p)
	return r.mend()
}

func (r *rig) verdict(t *rapid.T) {
	if r.bad != "" {
		t.Fatal(r.bad)
	}
	if twice := r.w.twice(); len(twice) > 0 {
		t.Fatalf("shown twice: %v of %v", twice, r.w.order)
	}
	if len(r.w.faults) > 0 {
		t.Fatalf("faults: %v", r.w.faults)
	}
	var left []string
	for _, c := range r.m.shelves {
		for _, x := range c.rows {
			left = append(left, x.id)
		}
	}
	whole := r.cfg.Pull.Mode == PullPaged || r.cfg.Pull.Mode == PullAll
	for _, id := range r.stored {
		on := slices.Contains(left, id)
		switch shown := r.w.shown[id] > 0; {
		case !shown && !on:
			t.Fatalf("%s was neither shown nor is it on the server", id)
		case !shown && (whole || id[0] == 'g'):
			t.Fatalf("%s stays on the server and was never shown; shown %v", id, r.w.order)
		case shown && on && (whole || id[0] == 'g'):
			t.Fatalf("%s was shown and never acked", id)
		}
	}
}
