package cli

import (
	"strings"
	"testing"
	"time"

	"ackmark/profiles"
)

// TestPairsLeft: a pair has one number wherever it is spoken of, and what is still to
// come is what decides.
func TestPairsLeft(t *testing.T) {
	_, settings, err := load("testdata/gate.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	g := &gating{app: &app{}, o: &gateOptions{}, settings: settings, progress: newProgress(&said, false)}
	m := newPairing(g, nil, nil, 8, 20)
	m.runs, m.took = 4, 20*time.Second // 5 s each
	// Of 2 variants 8 pairs are 32 runs, 20 are 80.
	if got, want := m.left(0), "cursor, pair 1, 0 of 8 to 20 usable so far: 2m40s to 6m40s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	m.round, m.tried = 3, []int{5, 3} // two of the first weren't used
	// 5 and 17 rounds are left: 20 and 68 runs.
	if got, want := m.left(0), "cursor, pair 6, 3 of 8 to 20 usable so far: 1m40s to 5m40s left, 2 discarded"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// One pair less, since the first variant has its fourth.
	if got, want := m.left(1), "ids, pair 4, 3 of 8 to 20 usable so far: 1m30s to 5m30s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	m = newPairing(g, nil, nil, 3, 3)
	m.runs, m.took = 4, 20*time.Second
	if got, want := m.left(0), "cursor, pair 1, 0 of 3 usable so far: 1m0s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestCountsAlone need no more pairs than decide them, unless more are asked for.
func TestCountsAlone(t *testing.T) {
	for _, tt := range []struct {
		metrics []string
		looks   []int
		want    string
	}{
		{nil, nil, "8,14,20"},
		{[]string{"none"}, nil, "3"},
		{[]string{"none"}, []int{5}, "5"},
		{[]string{"live.p99=20%"}, nil, "8,14,20"},
	} {
		g := &gating{o: &gateOptions{looks: tt.looks}, settings: []profiles.Setting{{Profile: &profiles.Profile{}}}}
		var err error
		if g.metrics, err = gatedTimings(nil, tt.metrics); err != nil {
			t.Fatal(err)
		}
		o, err := g.pairOptions()
		if err != nil || listed(o.Looks) != tt.want {
			t.Errorf("%v, %v: looks %v, want %s; %v", tt.metrics, tt.looks, o.Looks, tt.want, err)
		}
	}
}
