package sweep_test

import (
	"reflect"
	"slices"
	"testing"

	"ackmark/results"
	"ackmark/results/sweep"
)

// try is a run with a verdict, as tests write it: a letter.
func try(number int, letter rune) *results.Result {
	verdict := func(s results.Status, kinds ...results.ReasonKind) results.Verdict {
		v := results.Verdict{Status: s}
		for _, k := range kinds {
			v.Reasons = append(v.Reasons, results.Reason{Kind: k})
		}
		return v
	}
	v := map[rune]results.Verdict{
		'p': verdict(results.Pass),
		'f': verdict(results.Fail, results.ReasonThreshold),
		'i': verdict(results.Inconclusive, results.ReasonDisagree),
		'b': verdict(results.Invalid, results.ReasonHealth),                              // too busy
		'm': verdict(results.Invalid, results.ReasonHealth, results.ReasonMissing),       // and so a figure is missing
		'c': verdict(results.Invalid, results.ReasonHealth, results.ReasonReconcile),     // counts differ
		'r': verdict(results.Invalid, results.ReasonReplay),                              // another policy
		'l': verdict(results.Fail, results.ReasonInvariant, results.ReasonHealth),        // lost
		'h': verdict(results.Pass, results.ReasonHealth),                                 // edited by hand
		'x': verdict(results.Invalid, results.ReasonMissing),                             // a figure is missing
		'y': verdict(results.Invalid, results.ReasonInvariant, results.ReasonHealth),     // edited by hand
		'z': verdict(results.Invalid, results.ReasonIncomplete),                          // interrupted
		'?': verdict(results.Invalid),                                                    // no reason at all
		'w': verdict(results.Invalid, results.ReasonThreshold, results.ReasonHealth),     // fails, but nobody can tell
		'v': verdict(results.Inconclusive, results.ReasonHealth, results.ReasonDisagree), // edited by hand
	}[letter]
	return &results.Result{Runs: []results.Run{{Number: number, Verdict: v}}}
}

// One turn: what is measured again after these tries, and which of them counts.
func TestTries(t *testing.T) {
	for _, tt := range []struct {
		tries          string
		missing, again bool
		inVain         bool
		counts         int // number of the try
	}{
		{tries: "", missing: true},
		{tries: "p", counts: 1},
		{tries: "f", counts: 1},
		{tries: "i", counts: 1},
		{tries: "l", counts: 1}, // what was lost was lost on a busy machine too
		{tries: "b", again: true, inVain: true, counts: 1},
		{tries: "m", again: true, inVain: true, counts: 1},
		{tries: "w", again: true, inVain: true, counts: 1},
		{tries: "c", counts: 1},
		{tries: "r", counts: 1},
		{tries: "x", counts: 1},
		{tries: "y", counts: 1},
		{tries: "z", counts: 1},
		{tries: "?", counts: 1},
		{tries: "h", counts: 1},
		{tries: "v", counts: 1},
		{tries: "bp", counts: 2},
		{tries: "bf", counts: 2},
		{tries: "bc", counts: 2},
		{tries: "bb", again: true, inVain: true, counts: 2},
		{tries: "bbp", counts: 3},
		{tries: "bbb", inVain: true, counts: 3},
		{tries: "bbbb", inVain: true, counts: 4}, // files put there by hand
		{tries: "pb", counts: 1},
		{tries: "pp", counts: 2},
	} {
		p := plan()
		p.Repeats, p.Points = 1, p.Points[:1]
		turn := sweep.Turn{Point: 0, Repeat: 1}
		tries := sweep.Tries{}
		for i, letter := range tt.tries {
			tries[turn] = append(tries[turn], try(i+1, letter))
		}
		for _, part := range []struct {
			name string
			got  []sweep.Turn
			want bool
		}{{"missing", p.Missing(tries), tt.missing}, {"again", p.Again(tries), tt.again}, {"in vain", p.InVain(tries), tt.inVain}} {
			if slices.Contains(part.got, turn) != part.want {
				t.Errorf("%q: %s %v, want %v", tt.tries, part.name, part.got, part.want)
			}
		}
		if tt.tries == "" {
			continue
		}
		if got := sweep.Counting(tries[turn]).Runs[0].Number; got != tt.counts {
			t.Errorf("%q: try %d counts, want %d", tt.tries, got, tt.counts)
		}
	}
}

// Many turns: each list is in the order of the plan, and a turn of another sweep
// changes nothing.
func TestTriesOrder(t *testing.T) {
	p := plan()
	turns := p.Turns()
	tries := sweep.Tries{{Point: 9, Repeat: 9}: {try(1, 'b')}}
	for i, turn := range turns {
		switch i % 3 {
		case 0:
			tries[turn] = []*results.Result{try(i, 'b')}
		case 1:
			tries[turn] = []*results.Result{try(i, 'p')}
		}
	}
	every := func(rest int) (out []sweep.Turn) {
		for i, turn := range turns {
			if i%3 == rest {
				out = append(out, turn)
			}
		}
		return out
	}
	if got := p.Again(tries); !reflect.DeepEqual(got, every(0)) {
		t.Errorf("again %v, want %v", got, every(0))
	}
	if got := p.Missing(tries); !reflect.DeepEqual(got, every(2)) {
		t.Errorf("missing %v, want %v", got, every(2))
	}
	if got := p.Missing(nil); !reflect.DeepEqual(got, turns) {
		t.Errorf("of nothing %d are missing, want %d", len(got), len(turns))
	}
}

// Of three turns one has no try, one has one in vain, one is done: the first may
// take three more, the second two.
func TestAtMost(t *testing.T) {
	p := &sweep.Plan{Points: make([]sweep.PlanPoint, 3), Repeats: 1}
	of := func(point int) sweep.Turn { return sweep.Turn{Point: point, Repeat: 1} }
	got := p.AtMost(sweep.Tries{of(1): {try(1, 'b')}, of(2): {try(2, 'p')}})
	if want := []sweep.Turn{of(0), of(0), of(0), of(1), of(1)}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
