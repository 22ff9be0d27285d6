package ackpolicy

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func TestKindsByName(t *testing.T) {
	for _, name := range []string{"each", "count", "interval", "count-or-interval", "none"} {
		k, err := ParseKind(name)
		if err != nil || k.String() != name {
			t.Errorf("ParseKind(%q) = %v, %v", name, k, err)
		}
	}
	if _, err := ParseKind("batch"); err == nil || !strings.Contains(err.Error(), "each, count, interval") {
		t.Errorf("ParseKind(batch): %v, want an error that lists what there is", err)
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		p    Policy
		want string
	}{
		{Policy{Kind: Each}, ""},
		{Policy{Kind: None}, ""},
		{Policy{Kind: CountOrInterval, Every: 1, Interval: 1}, ""},
		{Policy{}, "unknown"},
		{Policy{Kind: Count}, "every must be"},
		{Policy{Kind: CountOrInterval, Every: 3}, "interval must be"},
		{Policy{Kind: Interval, Interval: -1}, "interval must be"},
		{Policy{Kind: Each, Idle: -1}, "idle is"},
	} {
		err := tt.p.Check()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.p, err, tt.want)
		}
	}
}

const ms = time.Millisecond

// TestBatchByHand plays arrivals (in ms) and names each flush as it must come.
func TestBatchByHand(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    Policy
		in   []time.Duration
		want []Flush
	}{
		{"each", Policy{Kind: Each}, []time.Duration{1, 1, 5},
			[]Flush{{ByCount, 1, 1, 1}, {ByCount, 1, 1, 1}, {ByCount, 1, 5, 5}}},
		{"count, rest on close", Policy{Kind: Count, Every: 2}, []time.Duration{1, 2, 9},
			[]Flush{{ByCount, 2, 1, 2}, {ByClose, 1, 9, 0}}},
		{"interval runs from the first", Policy{Kind: Interval, Interval: 10}, []time.Duration{1, 10, 11, 12},
			[]Flush{{ByInterval, 2, 1, 11}, {ByClose, 2, 11, 0}}},
		{"count before interval", Policy{Kind: CountOrInterval, Every: 2, Interval: 10}, []time.Duration{1, 3, 4, 40},
			[]Flush{{ByCount, 2, 1, 3}, {ByInterval, 1, 4, 14}, {ByClose, 1, 40, 0}}},
		{"idle runs from the last", Policy{Kind: Count, Every: 9, Idle: 5}, []time.Duration{1, 5, 9, 14, 30},
			[]Flush{{ByIdle, 3, 1, 14}, {ByIdle, 1, 14, 19}, {ByClose, 1, 30, 0}}},
		{"idle or interval, the earlier", Policy{Kind: Interval, Interval: 8, Idle: 5}, []time.Duration{0, 4, 20},
			[]Flush{{ByInterval, 2, 0, 8}, {ByClose, 1, 20, 0}}},
		{"none", Policy{Kind: None}, []time.Duration{1, 2}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := NewBatch(&tt.p)
			var got []Flush
			note := func(f Flush, ok bool) {
				if ok {
					got = append(got, f)
				}
			}
			for _, at := range tt.in {
				note(b.Expire(at))
				note(b.Add(at))
			}
			note(b.Flush(ByClose))
			if len(got) != len(tt.want) {
				t.Fatalf("flushes %v, want %v", got, tt.want)
			}
			for i := range got {
				if got[i] != tt.want[i] {
					t.Errorf("flush %d is %v, want %v", i, got[i], tt.want[i])
				}
			}
			if b.Len() != 0 {
				t.Errorf("%d deliveries left after close", b.Len())
			}
		})
	}
}

func TestReplayCountsOnlyItsWindow(t *testing.T) {
	p := Policy{Kind: Interval, Interval: 10 * ms}
	r := NewReplay(&p, 20*ms, 40*ms)
	for _, at := range []time.Duration{0, 9, 10, 25, 30, 50} { // due at 10 (tie: expires first), 20, 35, 60
		r.Arrive(at * ms)
	}
	if r.Acks() != 2 || r.Acked() != 3 { // 20: the one from 10; 35: the ones from 25 and 30
		t.Errorf("acks %d of %d deliveries in [20,40), want 2 of 3", r.Acks(), r.Acked())
	}
	r.Close(55 * ms)
	if r.Acks() != 2 {
		t.Errorf("the flush at 55 ms was counted in [20,40)")
	}
	whole := NewReplay(&p, 0, time.Second)
	whole.Arrive(1 * ms)
	whole.Close(5 * ms)
	if whole.Acks() != 1 {
		t.Errorf("close flushed %d batches, want 1", whole.Acks())
	}
}

func drawPolicy(t *rapid.T) Policy {
	return Policy{
		Kind:     rapid.SampledFrom([]Kind{Each, Count, Interval, CountOrInterval}).Draw(t, "kind"),
		Every:    rapid.IntRange(1, 20).Draw(t, "every"),
		Interval: time.Duration(rapid.IntRange(1, 500).Draw(t, "interval")) * ms,
		Idle:     time.Duration(rapid.SampledFrom([]int{0, 0, 3, 50}).Draw(t, "idle")) * ms,
	}
}

// timed drives one batch with a real timer, as a device does.
type timed struct {
	b     Batch
	start time.Time
	timer *time.Timer
	acks  uint64
	acked int
}

func (d *timed) now() time.Duration { return time.Since(d.start) }

func (d *timed) note(f Flush, ok bool) {
	if ok {
		d.acks++
		d.acked += f.N
	}
}

func (d *timed) arm() {
	if at, ok := d.b.Deadline(); ok {
		d.timer.Reset(at - d.now())
	} else {
		d.timer.Stop()
	}
}

// TestReplayIsTheTimedPolicy: with exact timers (the bubble's clock) the policy
// that sleeps and the policy that is replayed send the same acks.
func TestReplayIsTheTimedPolicy(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPolicy(rt)
		gaps := rapid.SliceOfN(rapid.IntRange(0, 300), 1, 120).Draw(rt, "gaps")
		synctest.Test(t, func(*testing.T) {
			d := timed{b: NewBatch(&p), start: time.Now()}
			d.timer = time.NewTimer(time.Hour)
			d.timer.Stop()
			replay := NewReplay(&p, 0, time.Hour)
			// gaps of 0.25 ms in between, so that some deadlines tie with an arrival and some do not
			for i, gap := range gaps {
				next := time.NewTimer(time.Duration(gap)*ms + time.Duration(i%2)*ms/4)
				for waiting := true; waiting; {
					select {
					case <-d.timer.C:
						d.note(d.b.Expire(d.now()))
						d.arm()
					case <-next.C:
						waiting = false
					}
				}
				now := d.now()
				d.note(d.b.Expire(now))
				d.note(d.b.Add(now))
				d.arm()
				replay.Arrive(now)
			}
			d.timer.Stop()
			d.note(d.b.Flush(ByClose))
			replay.Close(d.now())
			if d.acks != replay.Acks() {
				rt.Fatalf("%+v: the timed policy sent %d acks, the replay %d", p, d.acks, replay.Acks())
			}
			if d.acked != len(gaps) || d.b.Len() != 0 {
				rt.Fatalf("%d of %d deliveries acked, %d left after close", d.acked, len(gaps), d.b.Len())
			}
		})
	})
}

func TestBatchAllocatesNothing(t *testing.T) {
	p := Policy{Kind: CountOrInterval, Every: 3, Interval: 5}
	r := NewReplay(&p, 0, time.Hour)
	at := time.Duration(0)
	if n := testing.AllocsPerRun(1000, func() { at++; r.Arrive(at) }); n != 0 {
		t.Errorf("%v allocations per arrival", n)
	}
}
