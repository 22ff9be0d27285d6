package client

import (
	"testing"
	"testing/synctest"
)

// Acking the newest page cumulatively would drop the older ones
// (tinode/tindroid#158): an inbox is acked by ids meanwhile, live deliveries
// included, and a group not before nothing older is missing.
func TestNewestFirstNeverAcksWhatIsOlder(t *testing.T) {
	for _, name := range []string{inbox, "g:a"} {
		m := &model{}
		m.backlog(name, 10, "bob")
		act(t, Config{Pull: Pulling{Order: Newest, Page: 4}}, m, func(s *stage) {
			started := make(chan error, 1)
			go func() { started <- s.dev.Start(s.Context()) }()
			s.accept()
			<-started
			s.say(name, "bob")           // live, before the first page
			for pages := 0; pages < 2; { // 7 to 10, 3 to 6, and what the device has acked meanwhile
				f := s.p.next()
				if a := m.answer(f); a != nil {
					s.p.put(a)
					pages++
				}
			}
			c := m.shelf(name)
			if c.rows[0].seq != 1 || c.rows[1].seq != 2 {
				t.Fatalf("%s: %v stay on the server, 1 and 2 must", name, c.rows)
			}
			s.dev.Drop() // what was shown stays shown
			s.accept()
			m.serve(s.p)
			if len(c.rows) != 0 || len(s.w.shown) != 11 || len(s.w.twice()) > 0 {
				t.Errorf("%s: %d left, %d shown, %v twice", name, len(c.rows), len(s.w.shown), s.w.twice())
			}
		})
	}
}

// An epoch that begins while a backlog is pulled apart gives other seqs to what
// is left of it. The device begins again, and knows what it has shown.
func TestEpochInTheMiddleOfABacklog(t *testing.T) {
	for _, pull := range []Pulling{{Order: Newest, Page: 4}, {Mode: PullPerFriend}} {
		m := &model{friends: []string{"bob", "cat"}}
		m.backlog(inbox, 10, m.friends...)
		act(t, Config{Pull: pull}, m, func(s *stage) {
			started := make(chan error, 1)
			go func() { started <- s.dev.Start(s.Context()) }()
			s.accept()
			<-started
			for range 2 {
				if a := m.answer(s.p.next()); a != nil {
					s.p.put(a)
				}
			}
			shown := len(s.w.shown)
			m.cut(m.shelf(inbox), 3)
			s.say(inbox, "bob") // a reused seq
			synctest.Wait()
			if !s.p.gone.Load() || shown == 0 {
				t.Fatalf("%d were shown before the epoch began; the connection ended: %v", shown, s.p.gone.Load())
			}
			s.accept()
			m.serve(s.p)
			if len(m.shelf(inbox).rows) > 0 || len(s.w.twice()) > 0 || s.w.shown[inbox+".11"] != 1 {
				t.Errorf("%v left; shown %v", m.shelf(inbox).rows, s.w.order)
			}
		})
	}
}
