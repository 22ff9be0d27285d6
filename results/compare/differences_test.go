package compare

import (
	"fmt"
	"strings"
	"testing"

	"ackmark/results"
)

func lines(c *Comparison) string {
	var out []string
	for _, d := range c.Differences {
		out = append(out, fmt.Sprintf("%s %s [%s] %t", d.Side, d.String(), d.Concerns, d.Within))
	}
	return strings.Join(out, "\n")
}

func TestConditions(t *testing.T) {
	for _, tc := range []struct {
		name    string
		change  func(*results.Result)
		differs string
		warns   string
		timing  Outcome // of a CPU that halves
		memory  Outcome // of a count of Redis' memory that halves
	}{
		{"nothing", func(*results.Result) {}, "", "", Better, Better},
		{"another machine", func(r *results.Result) { r.Environment = machine(8, "7.0.15") }, "B cores: 2 → 8 [timings] false", "timings aren't comparable", NotComparable, Better},
		{"another Redis", func(r *results.Result) { r.Environment = machine(2, "8.2.0") }, "B Redis: 7.0.15 → 8.2.0 [timings, memory] false", "timings aren't comparable", NotComparable, NotComparable},
		{"embedded", func(r *results.Result) { r.Redis[0].Kind = results.Embedded }, "B store: Redis → embedded [timings, memory] false", "B was measured with the embedded store", NotComparable, NotComparable},
		{"pinned", func(r *results.Result) { r.Servers[0].PinnedCores = []int{1} }, "B servers pinned to: no cores → [1] [timings] false", "servers pinned to", NotComparable, Better},
		{"another build", func(r *results.Result) { r.Servers[0].Version = "0.3.0"; r.ToolVersion = "0.3.0" }, "B loadgen: 0.2.0 → 0.3.0 [] false\nB server: 0.2.0 → 0.3.0 [] false", "", Better, Better},
		{"another seed", func(r *results.Result) {
			r.Profile.Seed = 8
			each(r, func(run *results.Run) { run.Seed += 50 })
		}, "B seed: 7 → 8 [counts] false", "B measured something else than A (seed): its counts differ for that reason too", Better, Better},
		{"another profile", func(r *results.Result) {
			r.Profile.Hash, r.Profile.Source = "bbbb0000", strings.Replace(r.Profile.Source, "20/s", "50/s # more", 1)
			r.Variants[0].Hash = "e2"
			r.Variants[0].Set = map[string]string{"clients.ack.policy": "interval"}
		}, "B each: clients.ack.policy: each → interval [counts] false", "measured something else", Better, Better},
		{"--set", func(r *results.Result) { r.Profile.Sets = []string{"traffic.group.rate=50/s"} }, "B --set: none → traffic.group.rate=50/s [counts] false", "(--set)", Better, Better},
		{"a variant less", func(r *results.Result) { r.Variants = r.Variants[:1]; r.Runs = onlyEach(r.Runs) }, "B variants only here: every 10 → none [] false", "", Better, Better},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := each(measured(t, fast...), func(r *results.Run) { r.Metrics.Set("memory_bytes_per_message", 156) })
			tc.change(b)
			o := Options{Metrics: []string{cpu, "memory_bytes_per_message"}, Variants: []string{"each"}}
			c := compared(t, o, side("old", measured(t, slow...)), side("new", b))
			if got := lines(c); !strings.Contains(got, tc.differs) || tc.differs == "" && got != "" {
				t.Errorf("differs in\n%s", got)
			}
			if got := strings.Join(c.Warnings, "\n"); !strings.Contains(got, tc.warns) || tc.warns == "" && got != "" {
				t.Errorf("warns of\n%s", got)
			}
			if got := cell(t, c, "each", cpu).Outcome; got != tc.timing {
				t.Errorf("CPU: %s, want %s", got, tc.timing)
			}
			if got := cell(t, c, "each", "memory_bytes_per_message").Outcome; got != tc.memory {
				t.Errorf("memory: %s, want %s", got, tc.memory)
			}
			if o.Anyway = true; cell(t, compared(t, o, side("old", measured(t, slow...)), side("new", b)), "each", cpu).Outcome != Better {
				t.Error("nothing is concluded though it was asked for")
			}
		})
	}
}

func onlyEach(runs []results.Run) []results.Run {
	var out []results.Run
	for _, r := range runs {
		if r.Variant == "each" {
			out = append(out, r)
		}
	}
	return out
}

// Three times as many deliveries are no improvement when three times as many
// were sent; what each of them cost is comparable.
func TestTotalsOfSomethingElse(t *testing.T) {
	b := each(measured(t, fast...), func(r *results.Run) {
		r.Seed++
		r.Metrics.Set("deliveries", 449_100)
		r.Metrics.Set("redis_commands_per_send", 0.5)
	})
	old := side("old", measured(t, slow...))
	for metric, want := range map[string]Outcome{"deliveries": Changed, "redis_commands_per_send": Better, cpu: Better, "live.p99": Better} {
		if got := outcomeOf(t, Options{}, metric, old, side("new", b)); got != want {
			t.Errorf("%s: %s, want %s", metric, got, want)
		}
	}
	c := compared(t, Options{}, old, side("new", b))
	if cell(t, c, "each", "deliveries") != nil || strings.Join(c.Variants[0].Totals, " ") != "deliveries" {
		t.Errorf("totals are named in a line: %q", c.Variants[0].Totals)
	}
}

func TestIsTotal(t *testing.T) {
	for name, want := range map[string]bool{
		"deliveries": true, "deliveries_per_s": true, "ack_requests": true, "live.count": true, "server_rss_bytes": true,
		"live.p99": false, "late_sends_percent": false, "acks_reduction": false, "redis_commands_per_send": false, "largest_response_bytes": false, "lost": false,
	} {
		m, ok := results.Lookup(name)
		if got := isTotal(Metric{Name: name, Unit: m.Unit, Class: m.Class}); !ok || got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
}

func TestWithin(t *testing.T) {
	other := measured(t, slow...)
	other.Environment = machine(8, "7.0.15")
	c := compared(t, Options{}, side("a", measured(t, slow...), other), side("b", measured(t, fast...)))
	if got := lines(c); !strings.Contains(got, "A cores: 2 → 8 [timings] true") {
		t.Error(got)
	}
	if b := cell(t, c, "each", cpu); b.Outcome != NotComparable {
		t.Errorf("%+v", b)
	}
}

// Files of v1 have no hash per variant and no seed: the profile's hash and the
// seeds of the runs stand for them.
func TestOfVersion1(t *testing.T) {
	old := func(cpu ...float64) *results.Result {
		r := measured(t, cpu...)
		r.Schema, r.Profile.Seed = results.SchemaV1, 0
		for i := range r.Variants {
			r.Variants[i].Hash, r.Variants[i].Set = "", map[string]string{}
		}
		return r
	}
	if c := compared(t, Options{}, side("a", old(slow...)), side("b", measured(t, fast...))); len(c.Differences) != 0 {
		t.Error(lines(c))
	}
	b := old(fast...)
	b.Profile.Hash = "cccc0000"
	b.Runs[0].Seed = 1
	if got := lines(compared(t, Options{}, side("a", old(slow...)), side("b", b))); !strings.Contains(got, "hash of the profile: aaaa0000 → cccc0000") || !strings.Contains(got, "seed of repeat 1: 100 → 1") {
		t.Error(got)
	}
}

// Sides with one variant each are compared whatever it is called.
func TestOneVariantEach(t *testing.T) {
	one := func(name string, cpu ...float64) *results.Result {
		r := measured(t, cpu...)
		r.Variants, r.Runs = r.Variants[:1], onlyEach(r.Runs)
		r.Variants[0].Name = name
		return each(r, func(run *results.Run) { run.Variant = name })
	}
	c := compared(t, Options{}, side("a", one("before", slow...)), side("b", one("after", fast...)))
	if b := cell(t, c, "before", cpu); b == nil || b.Outcome != Better || !strings.Contains(lines(c), "variant: before → after") {
		t.Errorf("%+v\n%s", b, lines(c))
	}
	_, err := New([]Side{side("a", measured(t, slow...)), side("b", one("after", fast...))}, Options{})
	if err == nil || !strings.Contains(err.Error(), `A has "each", "every 10", B has "after"`) {
		t.Errorf("nothing shared: %v", err)
	}
}

func TestChangedLines(t *testing.T) {
	got := changedLines("# a\nrate: 20/s # fast\nabout: x\nsame: 1\n- old\n", "rate: 50/s\nabout: y\nsame: 1 # still\nnew: 2\n")
	if want := "[[rate 20/s 50/s] [new none 2]]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}
