package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ackmark/loadgen/engine"
	"ackmark/profiles"
	"ackmark/results"
)

// fakeEngine stands for the engine: it measures nothing, and says of each try of
// a turn what it is told to. So what a sweep makes of its runs can be tested
// without load, and without luck.
type fakeEngine struct {
	t     *testing.T
	redis string // version
	// busy tells the tries, from 1, in which the generator hadn't the machine it
	// needs. Nil: none.
	busy func(point string, try int) bool
	// fails tells the tries, from 1, that end in an error of the run's own, with a
	// store that works. Nil: none.
	fails func(point string, try int) error
	// before is called with the number of the call, from 1; its error ends it. Nil:
	// nothing.
	before func(call int) error

	calls int
	tries map[string]int // by point and repeat
	order []string       // points of the calls, in order
}

// key names a turn.
func (f *fakeEngine) key(point string, repeat int) string {
	return fmt.Sprintf("%s #%d", point, repeat)
}

func (f *fakeEngine) run(_ context.Context, cfg engine.Config) (*results.Result, error) {
	f.calls++
	if f.before != nil {
		if err := f.before(f.calls); err != nil {
			return nil, err
		}
	}
	turn := cfg.Order[0]
	setting := cfg.Settings[turn.Setting]
	if f.tries == nil {
		f.tries = map[string]int{}
	}
	key := f.key(setting.Name, turn.Repeat)
	f.tries[key]++
	try := f.tries[key]
	f.order = append(f.order, setting.Name)
	redis := []results.Node{{Name: "Redis 1", Kind: results.Private, Version: f.redis}}
	if f.fails != nil {
		if err := f.fails(setting.Name, try); err != nil {
			for name, text := range map[string]string{"redis-1.log": "", "server-3.log": "no " + setting.Name} {
				put(f.t, filepath.Join(cfg.LogDir, name), text)
			}
			return &results.Result{Redis: redis}, err
		}
	}

	began := time.Date(2026, 1, 2, 3, 0, 10*f.calls, 0, time.UTC)
	us := func(v int64) *int64 { return results.Count(v) }
	at := func(v int64) results.Histogram {
		return results.Histogram{Unit: results.Microseconds, Count: 1000, Min: us(v), P50: us(v), P90: us(v), P99: us(v), P999: us(v), Max: us(v)}
	}
	run := results.Run{
		Variant: setting.Name, Repeat: turn.Repeat, Number: 1, Metrics: results.Values{},
		Phases:     []results.Phase{{Name: "measure", StartMs: 0, EndMs: 1000}},
		Audit:      results.Audit{Sends: 10, Accepted: 10, Expected: 100, Deliveries: 100},
		Histograms: map[string]results.Histogram{"send": at(3000), "live": at(4000), "schedule_lag": at(50), "hiccup": at(50)},
	}
	for name, v := range map[string]float64{
		"sends": 10, "deliveries": 100, "expected_deliveries": 100, "deliveries_per_s": 100, "achieved_percent": 100, "ack_requests": 50,
		"system_cpu_us_per_delivery": float64(100 * try), "unacked_window_mean": 1,
	} {
		run.Metrics.Set(name, v)
	}
	for _, m := range results.Metrics() {
		if m.Class == results.Invariant {
			run.Metrics.Set(m.Name, 0)
		}
	}
	if f.busy != nil && f.busy(setting.Name, try) {
		run.Metrics.Set("achieved_percent", 50) // half of the load never left
	}
	r := &results.Result{
		Schema: results.SchemaCurrent, ToolVersion: cfg.ToolVersion, Started: began, Ended: began.Add(2 * time.Second),
		Profile:     results.Profile{Name: cfg.Source.Name(), Hash: profiles.HashSettings(cfg.Settings), Source: string(cfg.Source.YAML()), Seed: 1},
		Environment: results.FingerprintFrom(results.Collect(f.redis)),
		Servers:     []results.Node{{Name: "server 1", Kind: results.Private}}, Generators: []results.Node{{Name: "generator 1", Kind: results.Private}},
		Redis: redis,
		Runs:  []results.Run{run},
	}
	rules, err := engine.RulesOf([]profiles.Setting{setting})
	if err != nil {
		return nil, err
	}
	results.Judge(r, rules)
	r.Runs[0].Verdict = r.Verdict
	return r, nil
}

// said is what a sweep with a fake engine did.
type said struct {
	code     int
	out, err string
}

// sweep runs the command line with the fake engine.
func (f *fakeEngine) sweep(args ...string) said {
	if f.redis == "" {
		f.redis = "7.0.15"
	}
	var out, errs bytes.Buffer
	a := &app{Streams: Streams{In: bytes.NewReader(nil), Out: &out, Err: &errs}, lookup: func(string) (string, bool) { return "", false }}
	cmd := a.sweepCommandOf(&sweepOptions{run: f.run})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	ran, err := cmd.ExecuteC()
	return said{code: a.finish(ran, err), out: out.String(), err: errs.String()}
}

// begin sweeps two points, every=2 and every=5.
func (f *fakeEngine) begin(dir string, more ...string) said {
	return f.sweep(append([]string{"smoke", "--vary", "clients.ack.every=2,5", "--out", dir}, more...)...)
}

// kept lists the files of runs.
func kept(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, runsDir))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".json" {
			out = append(out, filepath.Join(dir, runsDir, e.Name()))
		}
	}
	return out
}

func resultOf(t *testing.T, dir string, o said) *results.Result {
	t.Helper()
	r, err := results.Read(dir)
	if err != nil {
		t.Fatalf("%v\n%s", err, o.err)
	}
	return r
}
