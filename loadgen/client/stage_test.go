package client

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// witness is an Observer that checks what every device promises: within a
// conversation messages are shown in the order of their seqs, unless they are
// placed, and it counts how often each is shown.
type witness struct {
	Ignore
	shown   map[string]int
	last    map[string]uint64 // by epoch and conversation: highest seq shown in its order
	order   []string          // of all that was shown, by id
	acks    []AckSent
	syncs   []Sync
	crashes []CrashedAt
	faults  []string
	ended   []string // sends, with their outcome
	wrong   string
}

func newWitness() *witness {
	return &witness{shown: map[string]int{}, last: map[string]uint64{}}
}

func (w *witness) OnShown(_ int, a Arrival) {
	id := string(a.ClientMsgID)
	w.shown[id]++
	w.order = append(w.order, id)
	if a.Placed || w.shown[id] > 1 {
		return
	}
	key := fmt.Sprintf("%d/%s", a.Epoch, a.Conversation)
	if a.Seq <= w.last[key] && w.wrong == "" {
		w.wrong = fmt.Sprintf("%s was shown after seq %d: %v", id, w.last[key], w.order)
	}
	w.last[key] = a.Seq
}

func (w *witness) OnTaken(_ int, a Arrival)                { w.OnShown(0, a) }
func (w *witness) OnSync(_ int, s Sync)                    { w.syncs = append(w.syncs, s) }
func (w *witness) OnCrash(_ int, c CrashedAt)              { w.crashes = append(w.crashes, c) }
func (w *witness) OnFault(_ int, _ time.Duration, f Fault) { w.faults = append(w.faults, f.Code) }
func (w *witness) OnSendResult(_ int, r SendResult) {
	w.ended = append(w.ended, r.ClientMsgID+" "+r.Outcome.String())
}

func (w *witness) OnAckSent(_ int, a AckSent) {
	a.IDs = slices.Clone(a.IDs)
	w.acks = append(w.acks, a)
}

// twice returns what was shown more than once.
func (w *witness) twice() (ids []string) {
	for id, n := range w.shown {
		if n > 1 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (w *witness) check(t *testing.T, m *model) {
	t.Helper()
	if w.wrong != "" {
		t.Error(w.wrong)
	}
	if m.wrong != "" {
		t.Error(m.wrong)
	}
	if len(w.faults) > 0 {
		t.Errorf("faults: %v", w.faults)
	}
}

// stage is a device, its witness and a model that it talks to, in a bubble.
type stage struct {
	*scene
	m *model
	w *witness
	p *peer
}

// act plays a script against a model. Nothing is connected yet.
func act(t *testing.T, cfg Config, m *model, script func(s *stage)) {
	t.Helper()
	play(t, cfg, func(sc *scene) {
		w := newWitness()
		sc.dev.cfg.Observer, sc.dev.taker = w, w
		if m.epoch == 0 {
			m.epoch = 1
		}
		if m.page == 0 {
			m.page = 100
		}
		m.shelf(inbox)
		m.shown = func(id string) bool { return w.shown[id] > 0 }
		s := &stage{scene: sc, m: m, w: w}
		script(s)
		w.check(sc.T, m)
	})
}

// login starts the device and serves all that it asks for.
func (s *stage) login() {
	s.Helper()
	started := make(chan error, 1)
	go func() { started <- s.dev.Start(s.Context()) }()
	s.accept()
	if err := <-started; err != nil {
		s.Fatal(err)
	}
	s.m.serve(s.p)
}

// accept takes the next connection.
func (s *stage) accept() {
	s.Helper()
	s.p = <-s.srv.conns
	s.p.put(s.m.welcome(s.p.next().Hello))
}

// relogin goes on with what a crashed device had persisted.
func (s *stage) relogin() {
	s.Helper()
	<-s.dev.Done()
	saved := s.dev.Saved()
	s.dev.Crash()
	s.dev = s.dev.DeviceFrom(s.dev.id, saved)
	s.login()
}

// say stores a message and pushes it where somebody is there.
func (s *stage) say(to, sender string) {
	up := s.p != nil
	select {
	case <-s.dev.Done():
		up = false
	default:
	}
	if f := s.m.store(to, sender, up, false); f != nil {
		s.p.put(f)
	}
}

// backlog stores n messages, of senders in turn.
func (m *model) backlog(to string, n int, senders ...string) {
	for i := range n {
		m.store(to, senders[i%len(senders)], false, false)
	}
}

func names(prefix string, n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("%s%05d", prefix, i))
	}
	return out
}
