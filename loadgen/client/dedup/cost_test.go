package dedup

import (
	"fmt"
	"runtime"
	"testing"
)

// What a device holds once it has seen n messages in order, by the layout: 8
// bytes for an identity, 16 for a range, tables between 3/8 and 3/4 full.
func TestBytesHeld(t *testing.T) {
	const n = 10_000
	for _, c := range []struct {
		cfg  Config
		want int
	}{
		{Config{Mode: None}, 0},
		{Config{Mode: Set}, 8*16384 + 32},                          // 10,000 > 3/4 of 8,192
		{Config{Mode: Window, Window: 1024}, 8*1024 + 8*2048 + 32}, // the ring, and a table for 1,025
		{Config{Mode: Watermark, Recent: 256}, 8 * 256},            // the ring
		{Config{Mode: Watermark}, 8 * 4096},                        // the ring
	} {
		t.Run(fmt.Sprint(c.cfg.Mode, c.cfg.Window, c.cfg.Recent), func(t *testing.T) {
			s := made(t, c.cfg).State(0)
			for _, m := range inOrder(1, n) {
				m.take(&s)
			}
			if got := s.Bytes(); got != c.want {
				t.Errorf("%d bytes, want %d", got, c.want)
			}
		})
	}
}

// Once its memory is there, no mode but set allocates for a delivery.
func TestAllocatesNothing(t *testing.T) {
	sender, id := []byte("r1-u17"), []byte("r1.0.123456")
	for _, cfg := range []Config{{Mode: None}, {Mode: Window, Window: 64}, {Mode: Watermark, Recent: 64}} {
		s := made(t, cfg).State(0)
		seq := uint64(0)
		take := func() {
			seq++
			id[10] = '0' + byte(seq%10)
			id[9] = '0' + byte(seq/10%10)
			id[8] = '0' + byte(seq/100%10)
			s.Take(seq, sender, id)
		}
		for range 1000 {
			take()
		}
		if n := testing.AllocsPerRun(1000, take); n != 0 {
			t.Errorf("%v: %v allocations per delivery", cfg.Mode, n)
		}
	}
}

// orders are how a benchmark's deliveries come.
var orders = []struct {
	name string
	seq  func(i, n int) uint64 // the i-th delivery of n
}{
	{"in order", func(i, _ int) uint64 { return uint64(i + 1) }},
	{"newest page first", func(i, n int) uint64 { return uint64(max(0, n-(i/100+1)*100) + i%100 + 1) }},
	{"by sender", func(i, n int) uint64 { // each of many friends has sent every so many-th
		friends := max(1, n/4)
		return uint64(i%4*friends + i/4 + 1)
	}},
}

// BenchmarkTake gives ns/delivery and held-B/delivery of each mode, over a
// conversation of 10,000 messages, all new, and then all again.
func BenchmarkTake(b *testing.B) {
	const n = 10_000
	sender := []byte("r1-u17")
	ids := make([][]byte, n+1)
	for k := range ids {
		ids[k] = fmt.Appendf(nil, "r1.0.%06d", k)
	}
	for _, cfg := range []Config{{Mode: None}, {Mode: Set}, {Mode: Window}, {Mode: Watermark}} {
		for _, o := range orders {
			for _, again := range []bool{false, true} {
				name := fmt.Sprintf("%v/%s/new", cfg.Mode, o.name)
				if again {
					name = fmt.Sprintf("%v/%s/again", cfg.Mode, o.name)
				}
				b.Run(name, func(b *testing.B) {
					d := made(b, cfg)
					held, deliveries, turn := 0, 0, d.State(0)
					pass := func() {
						for i := range n {
							seq := o.seq(i, n)
							turn.Take(seq, sender, ids[min(seq, n)])
						}
					}
					for b.Loop() {
						b.StopTimer()
						turn = d.State(0)
						if again {
							pass()
						}
						runtime.GC()
						b.StartTimer()
						pass()
						deliveries += n
						held = turn.Bytes()
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(deliveries), "ns/delivery")
					b.ReportMetric(float64(held)/n, "held-B/delivery")
					b.ReportMetric(0, "ns/op")
				})
			}
		}
	}
}

// BenchmarkInOrder is one delivery that comes next, which is nearly all of a
// run, with everything that the mode ever allocates in place.
func BenchmarkInOrder(b *testing.B) {
	sender, id := []byte("r1-u17"), []byte("r1.0.123456")
	for _, cfg := range []Config{{Mode: None}, {Mode: Window}, {Mode: Watermark}} {
		b.Run(cfg.Mode.String(), func(b *testing.B) {
			s := made(b, cfg).State(0)
			b.ReportAllocs()
			seq := uint64(0)
			for b.Loop() {
				seq++
				id[9], id[10] = byte(seq), byte(seq>>8)
				s.Take(seq, sender, id)
			}
		})
	}
}

// BenchmarkSave gives what persisting costs a client that has seen 10,000
// messages: bytes written down, and the time to copy them.
func BenchmarkSave(b *testing.B) {
	for _, mode := range []Mode{Set, Window, Watermark} {
		b.Run(mode.String(), func(b *testing.B) {
			s := made(b, Config{Mode: mode}).State(0)
			for _, m := range inOrder(1, 10_000) {
				m.take(&s)
			}
			var v Saved
			for b.Loop() {
				v = s.Save()
			}
			b.ReportMetric(float64(v.Bytes()), "saved-B")
		})
	}
}

// BenchmarkParts tells what of the watermark's price is the seqs' and what is
// kept for a change of epoch.
func BenchmarkParts(b *testing.B) {
	sender, id := []byte("r1-u17"), []byte("r1.0.123456")
	b.Run("seqs", func(b *testing.B) {
		var s Seqs
		for seq := uint64(1); b.Loop(); seq++ {
			s.Add(seq)
		}
	})
	b.Run("identify", func(b *testing.B) {
		d := made(b, Config{})
		for b.Loop() {
			d.identify(sender, id)
		}
	})
	b.Run("ring", func(b *testing.B) {
		var r ring
		for b.Loop() {
			r.add(7, DefaultRecent)
		}
	})
}
