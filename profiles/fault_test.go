package profiles

import (
	"slices"
	"testing"
	"time"
)

func TestFaultTimes(t *testing.T) {
	s := func(n int) Duration { return Duration(time.Duration(n) * time.Second) }
	for _, tc := range []struct {
		name string
		f    Fault
		want []Duration
	}{
		{"once", Fault{At: s(3), Down: s(1)}, []Duration{s(3)}},
		{"again to the end", Fault{At: s(1), Down: s(1), Every: s(3)}, []Duration{s(1), s(4), s(7)}}, // 10 s would end at 11 s
		{"the last just over in time", Fault{At: s(1), Down: s(1), Every: s(4)}, []Duration{s(1), s(5), s(9)}},
		{"clients back in time", Fault{At: s(1), Down: s(2), Every: s(3)}, []Duration{s(1), s(4), s(7)}}, // 10 s would end at 12 s
		{"a reset", Fault{Every: s(5)}, []Duration{0, s(5), s(10)}},
		{"too late", Fault{At: s(11)}, nil},
	} {
		if got := tc.f.Times(s(10)); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

// Each failure of the timeline stands for itself, in order of time, with what
// belongs to its kind and nothing else.
func TestTimeline(t *testing.T) {
	p := mustResolve(t, head+`traffic: {group: {}}
phases: {measure: 10s}
faults:
  - {kind: kill-server, at: 1s, down: 500ms, every: 6s}
  - {kind: reset, at: 2s, every: 3s, share: 50%}
  - {kind: kill-redis, at: 9s, cut: 20}
  - {kind: crash-clients, at: 10s, down: 0s, share: 10%}`)[0].Profile
	var got []string
	for _, f := range p.Timeline() {
		got = append(got, f.String())
	}
	want := []string{"{kind: kill-server, at: 1s, down: 500ms}", "{kind: reset, at: 2s, share: 50%}", "{kind: reset, at: 5s, share: 50%}",
		"{kind: kill-server, at: 7s, down: 500ms}", "{kind: reset, at: 8s, share: 50%}", "{kind: kill-redis, at: 9s, down: 1s, cut: 20}",
		"{kind: crash-clients, at: 10s, down: 0s, share: 10%}"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if len(mustResolve(t, head+"traffic: {group: {}}")[0].Profile.Timeline()) != 0 {
		t.Error("a timeline without faults")
	}
}
