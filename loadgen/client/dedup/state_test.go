package dedup

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func made(t interface{ Fatal(...any) }, cfg Config) *Dedup {
	d, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// delivery is a message of a test: number k, under a seq.
type delivery struct {
	seq uint64
	k   int
}

func (m delivery) take(s *State) Verdict { return s.Take(m.seq, []byte("alice"), msgID(m.k)) }

func msgID(k int) []byte { return fmt.Appendf(nil, "r1.0.%d", k) }

// inOrder is messages 1 to n, message k under seq k.
func inOrder(from, to int) (all []delivery) {
	for k := from; k <= to; k++ {
		all = append(all, delivery{uint64(k), k})
	}
	return all
}

func TestModes(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  Config
		want []Verdict // of the messages 1 to 5, 5 again, 2 again, 6
	}{
		{"none", Config{Mode: None}, []Verdict{Fresh, Fresh, Fresh, Fresh, Fresh, Fresh, Fresh, Fresh}},
		{"set", Config{Mode: Set}, []Verdict{Fresh, Fresh, Fresh, Fresh, Fresh, Known, Known, Fresh}},
		{"window of 4", Config{Mode: Window, Window: 4}, []Verdict{Fresh, Fresh, Fresh, Fresh, Fresh, Known, Known, Fresh}},
		{"window of 3", Config{Mode: Window, Window: 3}, []Verdict{Fresh, Fresh, Fresh, Fresh, Fresh, Known, Beyond, Fresh}},
		{"watermark", Config{Mode: Watermark}, []Verdict{Fresh, Fresh, Fresh, Fresh, Fresh, Known, Known, Fresh}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := made(t, c.cfg).State(0)
			for i, m := range append(inOrder(1, 5), delivery{5, 5}, delivery{2, 2}, delivery{6, 6}) {
				if peek, got := s.Peek(m.seq, []byte("alice"), msgID(m.k)), m.take(&s); got != c.want[i] || peek != got {
					t.Errorf("delivery %d, of message %d: peeked %v, taken %v, want %v", i, m.k, peek, got, c.want[i])
				}
			}
		})
	}
}

func TestVerdictShow(t *testing.T) {
	if !Fresh.Show() || Known.Show() || !Beyond.Show() {
		t.Error("all but what is known is shown")
	}
}

// A backlog up to seq 100 is pulled newest page first while 101 and 102 come
// live, and all of it is delivered again.
func TestWatermarkOutOfOrder(t *testing.T) {
	s := made(t, Config{}).State(0)
	order := inOrder(101, 102)
	for page := 90; page >= 0; page -= 10 {
		order = append(order, inOrder(page+1, page+10)...)
	}
	for _, m := range order {
		if got := m.take(&s); got != Fresh {
			t.Fatalf("message %d: %v", m.k, got)
		}
	}
	for _, m := range order {
		if got := m.take(&s); got != Known {
			t.Fatalf("message %d again: %v", m.k, got)
		}
	}
	if s.Mark() != 102 {
		t.Errorf("mark %d, want 102", s.Mark())
	}
}

func TestCover(t *testing.T) {
	s := made(t, Config{}).State(7)
	delivery{10, 1}.take(&s)
	s.Cover(7, 9) // the device's own sends
	if s.Mark() != 10 {
		t.Errorf("mark %d, want 10", s.Mark())
	}
	if got := (delivery{8, 2}).take(&s); got != Known {
		t.Errorf("a message that a page had covered: %v", got)
	}
}

// A store lost its tail: seqs 4 and 5 are handed out again. Message 5 was
// resent by its sender and is stored as 4, message 6 is new and stored as 5.
func TestNewEpoch(t *testing.T) {
	for _, mode := range []Mode{Set, Window, Watermark} {
		t.Run(mode.String(), func(t *testing.T) {
			s := made(t, Config{Mode: mode}).State(0)
			for _, m := range inOrder(1, 5) {
				m.take(&s)
			}
			s.BeginEpoch(3)
			for _, c := range []struct {
				delivery
				want Verdict
			}{{delivery{4, 5}, Known}, {delivery{5, 6}, Fresh}, {delivery{4, 5}, Known}, {delivery{5, 6}, Known}} {
				if got := c.take(&s); got != c.want {
					t.Errorf("message %d as seq %d: %v, want %v", c.k, c.seq, got, c.want)
				}
			}
		})
	}
}

// With 4 identities remembered, a tail of 4 that is handed out again is judged
// surely; of one of 5 the first may be forgotten.
func TestNewEpochBeyondWhatIsRemembered(t *testing.T) {
	for _, c := range []struct {
		mark uint64
		want Verdict
	}{{6, Fresh}, {5, Beyond}} {
		s := made(t, Config{Recent: 4}).State(0)
		for _, m := range inOrder(1, 10) {
			m.take(&s)
		}
		s.BeginEpoch(c.mark)
		if got := (delivery{c.mark + 1, 99}).take(&s); got != c.want {
			t.Errorf("after a fall to %d: %v, want %v", c.mark, got, c.want)
		}
		if got := (delivery{11, 11}).take(&s); got != Fresh {
			t.Errorf("a seq above all of the former epoch: %v", got)
		}
	}
}

// Against what was truly shown: set and watermark never err, none never knows,
// window errs only where it says so. Saving and restoring changes nothing, at
// any moment.
func TestStateProperty(t *testing.T) {
	for _, cfg := range []Config{{Mode: None}, {Mode: Set}, {Mode: Window, Window: 8}, {Mode: Watermark}} {
		t.Run(cfg.Mode.String(), rapid.MakeCheck(func(t *rapid.T) {
			d := made(t, cfg)
			s := d.State(0)
			shown := map[int]bool{}
			head := 0                  // messages that exist: number k under seq k - offset
			number := map[uint64]int{} // what is stored, by seq
			store := func(k int) uint64 { head++; number[uint64(head)] = k; return uint64(head) }
			next := 0
			t.Repeat(map[string]func(*rapid.T){
				"stored": func(t *rapid.T) { next++; store(next) },
				"delivered": func(t *rapid.T) {
					if head == 0 {
						t.Skip("nothing stored")
					}
					q := rapid.Uint64Range(1, uint64(head)).Draw(t, "seq")
					k := number[q]
					v := delivery{q, k}.take(&s)
					switch {
					case cfg.Mode == None && v != Fresh,
						v == Known && !shown[k],
						v == Fresh && shown[k] && cfg.Mode != None,
						v == Beyond && cfg.Mode != Window:
						t.Fatalf("message %d as seq %d, shown %v: %v", k, q, shown[k], v)
					}
					shown[k] = true
				},
				"tail lost": func(t *rapid.T) {
					base := rapid.IntRange(0, head).Draw(t, "base")
					var lost []int
					for q := head; q > base; q-- {
						lost = append(lost, number[uint64(q)])
						delete(number, uint64(q))
					}
					head = base
					// all below base that wasn't shown stays to come: the mark falls under it
					mark := base
					for q := 1; q <= base; q++ {
						if !shown[number[uint64(q)]] {
							mark = q - 1
							break
						}
					}
					s.BeginEpoch(uint64(mark))
					for _, k := range lost { // senders resend some, in an order of their own
						if rapid.Bool().Draw(t, "resent") {
							store(k)
						}
					}
				},
				"crash": func(t *rapid.T) { v := s.Save(); s = d.Restore(&v) },
			})
		}))
	}
}
