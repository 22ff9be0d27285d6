package profiles

import (
	"fmt"
	"testing"
	"time"
)

// The shipped sweeps: how many points they have, each with its crash variant, how
// often something crashes, and how long all of it takes with about a second of
// start, seeding and audit for each run of a group, two where a backlog is stored.
func TestSweeps(t *testing.T) {
	for _, tc := range []struct {
		name        string
		points      int
		overhead    time.Duration
		least, most time.Duration
		first, last string // the points
		hits, share int    // faults of a crash variant, and clients that each hits
	}{
		{name: "batch-ack-sweep", points: 6 * 4, overhead: time.Second, least: 12 * time.Minute, most: 15 * time.Minute,
			first: "map[clients.ack.every:1 clients.ack.interval:50ms]", last: "map[clients.ack.every:50 clients.ack.interval:5s]", hits: 8, share: 10},
		{name: "page-size-sweep", points: 7, overhead: 2 * time.Second, least: time.Minute, most: 4 * time.Minute,
			first: "map[clients.pull.page:10]", last: "map[clients.pull.page:1000]"},
		{name: "dedup-sweep", points: 5 * 3, overhead: 2 * time.Second, least: time.Minute, most: 4 * time.Minute,
			first: "map[clients.dedup_window:10 clients.pull.page:20]", last: "map[clients.dedup_window:200 clients.pull.page:100]"},
	} {
		s, err := Load(tc.name)
		if err != nil {
			t.Fatal(err)
		}
		settings, err := s.Points(s.Vary(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(settings) != 2*tc.points {
			t.Errorf("%s: %d settings, want %d points with and without crashes", tc.name, len(settings), tc.points)
			continue
		}
		if first, last := fmt.Sprint(settings[0].Point), fmt.Sprint(settings[len(settings)-1].Point); first != tc.first || last != tc.last {
			t.Errorf("%s: from %s to %s; want %s to %s", tc.name, first, last, tc.first, tc.last)
		}
		total := time.Duration(0)
		for i, set := range settings {
			p := set.Profile
			total += time.Duration(p.Repeats) * (p.Phases.Warmup.Std() + p.Phases.Measure.Std() + tc.overhead)
			if crash := i%2 == 1; crash != (set.CrashOf != "") || crash && set.CrashOf != settings[i-1].Name {
				t.Errorf("%s: %q is crash_of %q", tc.name, set.Name, set.CrashOf)
			}
			if len(set.Warnings) > 0 {
				t.Errorf("%s: %s: %q", tc.name, set.Name, set.Warnings)
			}
			if set.CrashOf == "" {
				continue
			}
			hit := 0
			for _, f := range p.Timeline() {
				hit += f.Share.Of(p.Population.Users)
			}
			if n := len(p.Timeline()); n != tc.hits || hit != tc.hits*tc.share {
				t.Errorf("%s: %d failures hit %d; want %d, %d each", set.Name, n, hit, tc.hits, tc.share)
			}
		}
		if total < tc.least || total > tc.most {
			t.Errorf("%s takes %v; want %v to %v", tc.name, total, tc.least, tc.most)
		}
	}
}
