package schedule

import (
	"testing"

	"ackmark/profiles"
)

// What the shipped profiles say of themselves: how many log in, each while it
// is measured, and how much waits for them.
func TestShippedBacklogs(t *testing.T) {
	for _, tc := range []struct {
		profile, variant string
		logins, backlog  int
	}{
		{"ladder-direct", "d1", 3, 3 * 750}, // 2.5 % of 10,000 friends × 3
		{"ladder-direct", "d7 newest crash", 3, 3 * 750},
		{"ladder-group", "g1", 300, 0}, // 60 % of 500; traffic is what waits
		{"friend-list", "1 pages", 2, 2 * 3},
		{"friend-list", "100 pages", 2, 2 * 30},
		{"friend-list", "1,000 per-friend", 2, 2 * 150},
		{"friend-list", "10,000 counts-first", 2, 2 * 750},
		{"login-storm", "over 10 s", 2000, 20_000},
		{"login-storm", "over 2 s", 2000, 20_000},
		{"login-storm", "bursts of 250", 2000, 20_000},
		{"group-backlog", "on demand", 4, 50_000},
		{"page-size", "pages of 10", 10, 10 * 1000},
		{"dedup", "watermark", 20, 20 * 200},
		{"churn-crash", "all of it", 30, 0},
	} {
		s, err := profiles.Load(tc.profile)
		if err != nil {
			t.Fatal(err)
		}
		settings, err := s.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, set := range settings {
			if set.Name != tc.variant {
				continue
			}
			found = true
			p, seed := set.Profile, RepeatSeed(set.Profile.Seed, 0)
			pop := populate(t, p, seed)
			logins := 0
			for e := range Events(p, pop, seed) {
				if e.Kind == Login {
					logins++
				}
			}
			if size := BacklogSize(p, pop); logins != tc.logins || size != tc.backlog {
				t.Errorf("%s, %s: %d logins and %d messages waiting; want %d and %d", tc.profile, tc.variant, logins, size, tc.logins, tc.backlog)
			}
		}
		if !found {
			t.Errorf("%s has no variant %s", tc.profile, tc.variant)
		}
	}
}

// Nobody who logs in has written anything of the group's backlog, so each pulls
// all 50 × 1,000.
func TestGroupBacklogIsTheSameForAll(t *testing.T) {
	p := setting(t, "group-backlog")
	pop := populate(t, p, 1)
	for e := range Backlog(p, pop, 1) {
		if !pop.Online[e.Sender] {
			t.Fatalf("user %d, who logs in, wrote %+v", e.Sender, e)
		}
	}
}
