package cli_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"ackmark/loadgen/engine"
	"ackmark/profiles"
	"ackmark/results"
)

// small is a measurement of a second per run, two variants, two repeats of each.
func small(t *testing.T) engine.Config {
	t.Helper()
	needRedis(t)
	t.Setenv("TMPDIR", t.TempDir())
	source, err := profiles.Parse("small.yaml", []byte(`profile: ackmark/v1
name: small
seed: 11
population: {users: 6, groups: {count: 1, members: 6}}
traffic: {group: {rate: 20/s}}
phases: {warmup: 0s, measure: 1s, drain: 5s}
repeats: 2
variants:
  - {name: each, set: {clients.ack.policy: each}}
  - {name: every 2, set: {clients.ack.policy: count, clients.ack.every: 2}}
`))
	if err != nil {
		t.Fatal(err)
	}
	settings, err := source.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return engine.Config{Source: source, Settings: settings, ToolVersion: "v1"}
}

// order names the runs of a result.
func order(r *results.Result) string {
	var names []string
	for _, run := range r.Runs {
		names = append(names, run.Variant+" "+string(rune('0'+run.Repeat))+" as "+string(rune('0'+run.Number)))
	}
	return strings.Join(names, ", ")
}

// TestResume measures three of four runs, two of them after one another and then
// an error of whoever keeps them; and the rest later. The whole is one result, as
// if it had been measured at once.
func TestResume(t *testing.T) {
	cfg := small(t)
	full := errors.New("the disk is full")
	var kept []results.Run
	cfg.Order = []engine.Turn{{Setting: 1, Repeat: 2}, {Setting: 0, Repeat: 1}, {Setting: 0, Repeat: 2}, {Setting: 1, Repeat: 1}}
	cfg.RunEnded = func(r results.Run) error {
		if len(kept) == 2 {
			return full
		}
		kept = append(kept, r)
		return nil
	}
	first, err := engine.Run(t.Context(), cfg)
	if !errors.Is(err, full) || len(first.Runs) != 3 || len(kept) != 2 {
		t.Fatalf("%d runs, %d kept, %v; want an end at the third", len(first.Runs), len(kept), err)
	}
	for _, run := range kept {
		healthy := func(r results.Reason) bool { return r.Kind != results.ReasonHealth }
		if run.Verdict.Status == "" || slices.ContainsFunc(run.Verdict.Reasons, healthy) {
			t.Errorf("%s %d was handed on with verdict %+v", run.Variant, run.Repeat, run.Verdict)
		}
	}

	cfg.Order, cfg.Done, cfg.Started, cfg.RunEnded = cfg.Order[2:], kept, first.Started, nil
	whole, err := engine.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := order(whole), "every 2 2 as 1, each 1 as 2, each 2 as 3, every 2 1 as 4"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
	if !whole.Started.Equal(first.Started) || !slices.IsSortedFunc(whole.Runs, func(a, b results.Run) int { return int(a.StartedMs - b.StartedMs) }) {
		t.Errorf("began at %v, not %v, or runs out of order", whole.Started, first.Started)
	}
	for i, v := range whole.Variants {
		if v.Repeats != 2 || v.Hash != profiles.HashSettings(cfg.Settings[i:i+1]) || v.Set["clients.ack.policy"] == "" {
			t.Errorf("%s: %d repeats, hash %.8s, sets %v", v.Name, v.Repeats, v.Hash, v.Set)
		}
	}
	// A seed belongs to a repeat, whenever it is measured.
	if r := whole.Runs; r[0].Seed != r[2].Seed || r[1].Seed != r[3].Seed || r[0].Seed == r[1].Seed || whole.Profile.Seed != 11 {
		t.Errorf("seeds %d %d %d %d of %d", r[0].Seed, r[1].Seed, r[2].Seed, r[3].Seed, whole.Profile.Seed)
	}

	cfg.Order, cfg.Done = []engine.Turn{}, whole.Runs
	again, err := engine.Run(t.Context(), cfg)
	if err != nil || again.Verdict.Status != whole.Verdict.Status || order(again) != order(whole) {
		t.Errorf("judged again: %s %+v, %v", order(again), again.Verdict, err)
	}
}

// TestOtherServer measures another build: the result has that one's version.
func TestOtherServer(t *testing.T) {
	cfg := small(t)
	t.Setenv(asProgram, "1") // this executable answers to version, too
	cfg.OtherServer, cfg.Order = os.Args[0], []engine.Turn{{Setting: 0, Repeat: 1}}
	_, version, err := engine.ServerOf(t.Context(), os.Args[0])
	if err != nil || version == "" || version == cfg.ToolVersion {
		t.Fatalf("version %q, %v", version, err)
	}
	r, err := engine.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if r.Servers[0].Version != version || r.Generators[0].Version != "v1" || len(r.Variants) != 1 || r.Runs[0].Audit.Deliveries == 0 {
		t.Errorf("server %q, generator %q, %d variants; want %q, v1, just the one that was asked for", r.Servers[0].Version, r.Generators[0].Version, len(r.Variants), version)
	}
}
