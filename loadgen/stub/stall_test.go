package stub

import (
	"testing"
	"time"
)

// TestStall: one pause of the whole server shows in what the devices observe,
// as long as it was, and the stub says how long that is.
func TestStall(t *testing.T) {
	const pause = 400 * time.Millisecond
	l := load{users: 10, groups: 10, members: 4, messages: 400, every: 2500 * time.Microsecond}
	r := run(t, Config{Seed: 1, Delay: Constant(10 * time.Millisecond), Stall: Stall{At: 300 * time.Millisecond, For: pause}}, l)
	truth, rep := r.stub.Truth(), r.ledger.Audit(nil)
	if truth.Stalled < pause || truth.Stalled > pause*3/2 {
		t.Errorf("it stalled for %v, want %v", truth.Stalled, pause)
	}
	seen := sorted(r.exact)
	if most := seen.Percentile(100); most < pause {
		t.Errorf("the longest delivery took %v, a stall of %v has to show", most, pause)
	}
	// Sends left on time all through it: of 1 s, 0.4 s waited, evenly from 0 to
	// 0.4 s. So 20 % took 0.2 s or longer.
	if p75, p90 := seen.Percentile(75), seen.Percentile(90); p75 < pause/4 || p90 < pause/2 {
		t.Errorf("p75 %v and p90 %v; the stall made 30 %% wait 0.1 s or longer, 20 %% 0.2 s", p75, p90)
	}
	if rep.Arrived != r.expected || rep.Redelivered+rep.ShownTwice+rep.OutOfOrder > 0 {
		t.Errorf("a stall loses and repeats nothing: %+v", rep)
	}
}

// TestSlowAnswers: answers are as late as asked for, deliveries aren't, and the
// audit finds nothing although devices see their own messages as holes.
func TestSlowAnswers(t *testing.T) {
	const wait = 150 * time.Millisecond // longer than a device waits before it pulls
	l := load{users: 10, groups: 5, members: 4, messages: 200, every: 3 * time.Millisecond}
	r := run(t, Config{Seed: 1, Delay: Constant(5 * time.Millisecond), Answer: Constant(wait), Accept: 5 * time.Millisecond}, l)
	rep, truth := r.ledger.Audit(nil), r.stub.Truth()
	if least := sorted(r.tookSend).Percentile(0); least < wait {
		t.Errorf("an answer came after %v, want %v or later", least, wait)
	}
	if p50 := truth.Delays.Percentile(50); p50 > wait/2 {
		t.Errorf("deliveries took %v at p50; slow answers shouldn't slow them", p50)
	}
	if rep.Arrived != r.expected || rep.NotShown > 0 || rep.Redelivered+rep.ShownTwice+rep.OutOfOrder > 0 {
		t.Errorf("slow answers lose and repeat nothing: %+v", rep)
	}
}

// TestDeafDevice: a device that reads nothing for a while holds nobody else up,
// gets everything later, and the stub's record says how long that took.
func TestDeafDevice(t *testing.T) {
	l := load{users: 4, groups: 2, members: 3, messages: 150, every: 3 * time.Millisecond, body: 64 << 10, deaf: 1}
	// group 1 has users 1, 2 and 3, who is deaf and sends, too
	r := run(t, Config{Seed: 1, Delay: Constant(5 * time.Millisecond)}, l)
	rep, truth := r.ledger.Audit(nil), r.stub.Truth()
	if rep.Arrived != r.expected || rep.Redelivered+rep.ShownTwice+rep.OutOfOrder > 0 {
		t.Errorf("a slow reader loses and repeats nothing: %+v", rep)
	}
	if truth.Delays.Count() != r.expected {
		t.Errorf("%d delays recorded of %d deliveries", truth.Delays.Count(), r.expected)
	}
	if p75 := truth.Delays.Percentile(75); p75 > 100*time.Millisecond {
		t.Errorf("p75 is %v: five of six deliveries go to devices that read", p75)
	}
}
