package stub

import (
	"testing"
	"time"

	"ackmark/loadgen/ledger"
)

// found is what an audit may report of an injected fault.
type found struct{ lost, redelivered, twice, disorder, mismatch int }

// TestFaultsAreFoundExactly injects each fault alone, all together, and none,
// and holds the audit against what the stub says it did.
func TestFaultsAreFoundExactly(t *testing.T) {
	l := load{users: 20, groups: 8, members: 8, messages: 600, every: 2 * time.Millisecond}
	for _, tt := range []struct {
		name   string
		inject Inject
		answer Delay
		caused func(t *Truth) int // what must have happened at all
		want   func(t *Truth) found
	}{
		{"none", Inject{}, nil, func(t *Truth) int { return int(t.Deliveries) }, func(*Truth) found { return found{} }},
		{"lost", Inject{Lose: 0.02}, nil, func(t *Truth) int { return len(t.Lost) },
			func(t *Truth) found { return found{lost: len(t.Lost)} }},
		{"again", Inject{Again: 0.02}, nil, func(t *Truth) int { return len(t.Again) },
			func(t *Truth) found { return found{redelivered: len(t.Again)} }},
		{"stored twice", Inject{Twice: 0.05}, nil, func(t *Truth) int { return len(t.Twice) },
			func(t *Truth) found {
				n := len(t.Twice) * (l.members - 1)
				return found{redelivered: n, twice: n}
			}},
		{"swapped", Inject{Swap: 0.05}, nil, func(t *Truth) int { return len(t.Swapped) }, func(*Truth) found { return found{} }},
		{"late", Inject{Late: 0.01}, nil, func(t *Truth) int { return len(t.Late) },
			func(t *Truth) found { return found{disorder: len(t.Late)} }},
		{"late, with answers after the last delivery", Inject{Late: 0.05}, Constant(300 * time.Millisecond), func(t *Truth) int { return len(t.Late) },
			func(t *Truth) found { return found{disorder: len(t.Late)} }},
		{"renumbered", Inject{Renumber: 0.05}, nil, func(t *Truth) int { return len(t.Renumbered) },
			func(t *Truth) found { return found{mismatch: 2 * len(t.Renumbered)} }},
		{"renumbered, with slow answers", Inject{Renumber: 0.05}, Constant(15 * time.Millisecond), func(t *Truth) int { return len(t.Renumbered) },
			func(t *Truth) found { return found{mismatch: 2 * len(t.Renumbered)} }},
		{"all, with slow answers", Inject{Lose: 0.01, Again: 0.01, Twice: 0.02, Swap: 0.02, Late: 0.005, Renumber: 0.02}, Constant(15 * time.Millisecond),
			func(t *Truth) int {
				return min(len(t.Lost), len(t.Again), len(t.Twice), len(t.Swapped), len(t.Late), len(t.Renumbered))
			},
			func(t *Truth) found {
				return found{len(t.Lost), len(t.Again) + len(t.ShownTwice), len(t.ShownTwice), len(t.Late), 2 * len(t.Renumbered)}
			}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := run(t, Config{Seed: 7, Delay: Uniform{2 * time.Millisecond, 12 * time.Millisecond}, Answer: tt.answer, Inject: tt.inject}, l)
			truth, rep := r.stub.Truth(), r.ledger.Audit(nil)
			if tt.caused(&truth) == 0 {
				t.Fatalf("nothing was injected: %+v", truth)
			}
			if err := rep.Balance(); err != nil {
				t.Error(err)
			}
			got := found{rep.Lost, int(rep.Redelivered), int(rep.ShownTwice), int(rep.OutOfOrder), int(rep.SeqMismatch)}
			if want := tt.want(&truth); got != want {
				t.Errorf("the audit found %+v, injected were %+v", got, want)
			}
			if rep.Accepted != l.messages || rep.Expected != r.expected || rep.Foreign != 0 || rep.NotShown != 0 || rep.RefusedArrived != 0 || rep.ArrivedUnknown != 0 {
				t.Errorf("more was found than injected: %+v", rep)
			}
			if rep.Arrivals != truth.Written {
				t.Errorf("%d arrivals, the stub wrote %d", rep.Arrivals, truth.Written)
			}
			if t.Failed() {
				for _, x := range rep.Examples {
					t.Logf("%v %+v", x.Kind, x)
				}
			}
			checkLost(t, r, &truth)
			t.Logf("lost %d, again %d, twice %d, swapped %d, late %d, renumbered %d of %d deliveries; %d resends", len(truth.Lost), len(truth.Again),
				len(truth.Twice), len(truth.Swapped), len(truth.Late), len(truth.Renumbered), r.expected, truth.Resends)
		})
	}
}

// checkLost asks the audit with the stub's store in view: a lost delivery whose
// seq the cursor has passed was acked without being received, one at the end of
// its conversation counts as pending. Every example must be one that was injected.
func checkLost(t *testing.T, r *rig, truth *Truth) {
	t.Helper()
	rep := r.ledger.Audit(r.view)
	if rep.Lost+rep.Pending != len(truth.Lost) || rep.AckedNotReceived != rep.Lost {
		t.Errorf("with the store in view: lost %d, pending %d, acked but not received %d of %d injected losses", rep.Lost, rep.Pending, rep.AckedNotReceived, len(truth.Lost))
	}
	injected := map[string]bool{}
	for _, c := range truth.Lost {
		injected[c.ClientMsgID+" "+c.Recipient] = true
	}
	for _, x := range rep.Examples {
		if id := messageID(x) + " " + userName(x.Recipient); x.Kind == ledger.Lost && !injected[id] {
			t.Errorf("%s is reported lost and wasn't injected", id)
		}
	}
}
