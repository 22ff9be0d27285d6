package gate

import (
	"bytes"
	"encoding/csv"
	"maps"
	"math"
	"math/bits"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ackmark/results"
)

// counted are n pairs of runs of 10 s with 20 sends, 780 deliveries, 400 ack
// requests and 40 logins, of which Redis counted the same on both sides.
func counted(n int) [][2]*results.Run {
	pairs := even(n)
	for _, pr := range pairs {
		for _, run := range pr {
			setEvents(run, map[string]float64{"=send": 20, "=delivery": 780, "=ack request": 400, "=login": 40})
			run.Redis.Commandstats = map[string]int64{"xadd": 20, "zscore": 20, "evalsha": 440, "xrevrange": 100, "smembers": 40}
		}
	}
	return pairs
}

func setEvents(run *results.Run, often map[string]float64) {
	run.Phases = []results.Phase{{Name: "measure", StartMs: 0, EndMs: 10_000}}
	run.Metrics.Set("offered_per_s", often["=send"]/10)
	run.Metrics.Set("deliveries_per_s", often["=delivery"]/10)
	run.Acks.Requests = int64(often["=ack request"])
	run.Metrics.Set("logins", often["=login"])
}

// commandChecks are those of Redis' commands, in a report of all pairs.
func commandChecks(variant string, pairs [][2]*results.Run) []Check {
	p := NewPairs(DefaultPairOptions())
	for _, pr := range pairs {
		p.Add(variant, "count-or-interval", pr[0], pr[1])
	}
	return p.commands()
}

func TestPairsCommands(t *testing.T) {
	more := func(name string, calls ...int64) func(i int, c, r *results.Run) {
		return func(i int, c, _ *results.Run) { c.Redis.Commandstats[name] += calls[i%len(calls)] }
	}
	only := func(often map[string]float64, change func(i int, c, r *results.Run)) func(i int, c, r *results.Run) {
		return func(i int, c, r *results.Run) {
			setEvents(c, often)
			setEvents(r, often)
			change(i, c, r)
		}
	}
	none := func(runs ...*results.Run) {
		for _, run := range runs {
			run.Redis.Commandstats = map[string]int64{}
		}
	}
	for _, tt := range []struct {
		name    string
		pairs   int
		change  func(i int, c, r *results.Run)
		outcome Outcome
		metric  string // of the first check
		was, is float64
	}{
		{"equal", 3, more("xadd", 0), Passed, commandstats, 0, 0},
		{"a new command per send", 3, more("exists", 20), Failed, "Redis exists per send", 0, 1},
		{"one more of a command per send", 3, more("xadd", 20), Failed, "Redis xadd per send", 1, 2},
		{"two more per send", 3, more("exists", 40), Failed, "Redis exists per login", 0, 1}, // of which there are twice as many
		{"a new command per delivery", 3, more("exists", 780), Failed, "Redis exists per delivery", 0, 1},
		{"a new command per ack request", 3, more("exists", 400), Failed, "Redis exists per ack request", 0, 1},
		{"one more per ack request", 3, more("evalsha", 400), Failed, "Redis evalsha per ack request", 1.1, 2.1},
		{"one more per login", 3, more("smembers", 40), Failed, "Redis smembers per login", 1, 2},

		// 20 of 440 are 4.5 %: only what doesn't vary is told from batches.
		{"one more per send among many", 3, more("evalsha", 20), Failed, "Redis evalsha per send", 22, 23},
		{"within 5 % of the median", 3, more("evalsha", 20, 19, 21), Failed, "Redis evalsha per send", 22, 23},
		{"hidden by what varies", 3, more("evalsha", 20, 18, 22), Passed, commandstats, 0, 0},
		{"hidden by what the reference varies", 3, func(i int, c, r *results.Run) { // by 6 calls, a quarter of 20 is 5
			r.Redis.Commandstats["evalsha"] += int64(6 * (i % 2))
			c.Redis.Commandstats["evalsha"] += int64(6*(i%2)) + 20
		}, Passed, commandstats, 0, 0},
		{"varies, and a quarter of the calls", 3, more("xrevrange", 25, 30, 40), Failed, "Redis xrevrange per login", 2.5, 3.25},
		{"varies, and once less than a quarter", 3, more("xrevrange", 24, 30, 40), Passed, commandstats, 0, 0},

		{"half a call per send", 3, more("exists", 10), Failed, "Redis exists per send", 0, 0.5},
		{"less than half a call", 3, more("exists", 9), Passed, commandstats, 0, 0},
		{"batches that fall otherwise", 3, more("xrevrange", 14, -13, 2), Passed, commandstats, 0, 0},
		{"in two of three pairs", 3, more("exists", 20, 0, 20), Passed, commandstats, 0, 0},
		{"in three of four pairs", 4, more("exists", 20, 0, 20, 20), Passed, commandstats, 0, 0},
		{"in four of five pairs", 5, more("exists", 20, 0, 20, 20, 20), Failed, "Redis exists per send", 0, 1},
		{"in two pairs of two", 2, more("exists", 20), Undecided, "Redis exists per send", 0, 1},
		{"equal in one pair", 1, more("exists", 0), Passed, commandstats, 0, 0},

		{"fewer", 3, more("xadd", -10), Passed, commandstats, 0, 0},
		{"one less", 3, func(_ int, c, _ *results.Run) { delete(c.Redis.Commandstats, "xadd") }, Passed, commandstats, 0, 0},

		{"few logins, one more each", 3, only(map[string]float64{"=login": 4}, more("exists", 4)), Failed, "Redis exists per login", 0, 1},
		{"few logins, two calls by mishap", 3, only(map[string]float64{"=login": 4}, more("exists", 2)), Passed, commandstats, 0, 0},
		{"few logins, a timer", 3, only(map[string]float64{"=login": 4}, more("exists", 26, 5, 45)), Passed, commandstats, 0, 0},
		{"nothing happens, one more a second", 3, only(nil, more("exists", 10)), Failed, "Redis exists per second", 0, 1},

		{"missing on neither side", 3, func(_ int, c, r *results.Run) { none(c, r) }, Reported, commandstats, 0, 0},
		{"missing of the candidate", 3, func(_ int, c, _ *results.Run) { none(c) }, Bad, commandstats, 0, 0},
		{"missing of the reference", 3, func(_ int, _, r *results.Run) { none(r) }, Bad, commandstats, 0, 0},
		{"missing of one run", 3, func(i int, c, _ *results.Run) {
			if i == 2 {
				c.Redis.Commandstats = nil
			}
		}, Bad, commandstats, 0, 0},
		{"missing of one pair", 3, func(i int, c, r *results.Run) {
			if i == 0 {
				none(c, r)
			}
		}, Bad, commandstats, 0, 0},
		{"how long isn't known", 3, only(nil, func(_ int, c, r *results.Run) { c.Phases, r.Phases = nil, nil }), Reported, commandstats, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pairs := counted(tt.pairs)
			for i, pr := range pairs {
				tt.change(i, pr[0], pr[1])
			}
			got := commandChecks("v", pairs)
			if len(got) != 1 || got[0].Outcome != tt.outcome || got[0].Metric != tt.metric || got[0].Gated == (tt.outcome == Reported) {
				t.Fatalf("%+v, want one check %q that is %s", got, tt.metric, tt.outcome)
			}
			if c := got[0]; tt.is > 0 && (*c.Reference != tt.was || *c.Candidate != tt.is) {
				t.Errorf("%g, was %g, want %g, was %g", *c.Candidate, *c.Reference, tt.is, tt.was)
			}
		})
	}
}

// An extra command ends the gate as soon as counts decide, and names what it is.
func TestPairsCommandsFail(t *testing.T) {
	pairs := counted(8)
	for _, pr := range pairs {
		pr[0].Redis.Commandstats["exists"] = 20
	}
	o := DefaultPairOptions()
	o.Metrics = nil
	rep, n := judgePairs(o, pairs)
	const want = "by Redis' own count, calls of exists per send are 1, were 0: more in 3 of 3 pairs"
	if n != CountPairs || rep.Verdict.Status != results.Fail || len(rep.Verdict.Reasons) != 1 || rep.Verdict.Reasons[0].Text != want {
		t.Errorf("%s after %d pairs: %+v", rep.Verdict.Status, n, rep.Verdict.Reasons)
	}
}

// What Redis gives of one side alone is invalid once counts decide; of neither,
// a note says that it wasn't compared, whatever else passes.
func TestPairsCommandsMissing(t *testing.T) {
	pairs := counted(8)
	for _, pr := range pairs {
		pr[1].Redis.Commandstats = nil
	}
	if rep, n := judgePairs(DefaultPairOptions(), pairs); n != CountPairs || rep.Verdict.Status != results.Invalid {
		t.Errorf("%s after %d pairs", rep.Verdict.Status, n)
	}
	for _, pr := range pairs {
		pr[0].Redis.Commandstats = nil
	}
	rep, _ := judgePairs(DefaultPairOptions(), pairs)
	const want = "every 10: Redis' own counts of commands were not compared: neither side has any"
	if rep.Verdict.Status != results.Pass || !slices.Equal(rep.Notes, []string{want}) {
		t.Errorf("%s, notes %q", rep.Verdict.Status, rep.Notes)
	}
	var junit strings.Builder
	if err := WriteJUnit(&junit, rep); err != nil || !strings.Contains(junit.String(), "were not compared: neither side has any") {
		t.Errorf("%v in %s", err, junit.String())
	}
}

// Each variant is held on its own.
func TestPairsCommandsOfVariants(t *testing.T) {
	o := DefaultPairOptions()
	o.Metrics = nil
	p := NewPairs(o)
	good, bad, blind := counted(3), counted(3), counted(3)
	for i := range 3 {
		bad[i][0].Redis.Commandstats["exists"] = 20
		blind[i][0].Redis.Commandstats, blind[i][1].Redis.Commandstats = nil, nil
		p.Add("good", "count", good[i][0], good[i][1])
		p.Add("bad", "count", bad[i][0], bad[i][1])
		p.Add("blind", "count", blind[i][0], blind[i][1])
		p.Add("blind too", "count", blind[i][0], blind[i][1])
		if p.Look() != (i == 2) {
			t.Errorf("decided after %d pairs", i+1)
		}
	}
	rep := p.Report()
	if find(t, rep, "good", commandstats).Outcome != Passed || find(t, rep, "bad", "Redis exists per send").Outcome != Failed || len(rep.Verdict.Reasons) != 1 {
		t.Errorf("%+v", rep.Verdict.Reasons)
	}
	if len(rep.Notes) != 1 || !strings.HasPrefix(rep.Notes[0], "blind, blind too: ") {
		t.Errorf("notes %q", rep.Notes)
	}
}

// How it looks where little room is.
func TestPairsCommandsGolden(t *testing.T) {
	o := DefaultPairOptions()
	o.Metrics = nil
	p := NewPairs(o)
	bad, blind := counted(3), counted(3)
	for i := range 3 {
		for name, calls := range map[string]int64{"exists": 20, "xadd": 40, "zremrangebylex": 780} {
			bad[i][0].Redis.Commandstats[name] = calls
		}
		blind[i][0].Redis.Commandstats, blind[i][1].Redis.Commandstats = nil, nil
		p.Add("cursor, pages, crash", "count", bad[i][0], bad[i][1])
		p.Add("ids, pages", "count", blind[i][0], blind[i][1])
	}
	rep := p.Report()
	rep.Profile, rep.Candidate, rep.Reference = "ci", "loadgen 0.2.0", "../base/loadgen 0.1.0"
	var b bytes.Buffer
	if err := drawText(80, false, false)(&b, rep); err != nil {
		t.Fatal(err)
	}
	golden(t, "pairs-commands-80.txt", b.Bytes())
	if err := compile(t, Schema()).Validate(any(document(t, encoded(t, rep)))); err != nil {
		t.Error(err)
	}
}

// aaCommands reads the A/A pairs of testdata/aa-commandstats.csv by variant.
func aaCommands(t testing.TB) map[string][][2]*results.Run {
	t.Helper()
	f, err := os.Open("testdata/aa-commandstats.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := csv.NewReader(f)
	in.Comment = '#'
	rows, err := in.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][][2]*results.Run{}
	often := map[*results.Run]map[string]float64{}
	for _, row := range rows[1:] {
		variant := row[0] + ": " + row[1]
		pair, err := strconv.Atoi(row[2])
		if err != nil {
			t.Fatal(err)
		}
		if pair > len(out[variant]) {
			out[variant] = append(out[variant], even(1)[0])
		}
		for side, run := range out[variant][pair-1] {
			n, err := strconv.ParseInt(row[4+side], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			if often[run] == nil {
				often[run] = map[string]float64{}
			}
			if strings.HasPrefix(row[3], "=") {
				often[run][row[3]] = float64(n)
			} else if n > 0 {
				run.Redis.Commandstats[row[3]] = n
			}
			setEvents(run, often[run])
		}
	}
	return out
}

// arranged calls f with every choice of n pairs or more and with sides exchanged
// in every way, which makes the sides alike by construction. No pair is there
// twice: two measurements are never the same.
func arranged(from [][2]*results.Run, n int, f func([][2]*results.Run)) {
	for some := range 1 << len(from) {
		if bits.OnesCount(uint(some)) < n {
			continue
		}
		for turned := some; ; turned = (turned - 1) & some {
			var pairs [][2]*results.Run
			for i, pr := range from {
				if turned>>i&1 == 1 {
					pr[0], pr[1] = pr[1], pr[0]
				}
				if some>>i&1 == 1 {
					pairs = append(pairs, pr)
				}
			}
			f(pairs)
			if turned == 0 {
				break
			}
		}
	}
}

// withMore are pairs whose candidates called a command more, once for each event
// of a kind.
func withMore(pairs [][2]*results.Run, name string, e event) [][2]*results.Run {
	out := slices.Clone(pairs)
	for i, pr := range out {
		c := *pr[0]
		c.Redis.Commandstats = maps.Clone(c.Redis.Commandstats)
		c.Redis.Commandstats[name] += int64(math.Round(e.in(&c)))
		out[i][0] = &c
	}
	return out
}

// Of one build no command is called more, in whatever gates the measured pairs
// make: three of them are all on one side in one of 8.
func TestCommandsOfTheSameBuild(t *testing.T) {
	for variant, from := range aaCommands(t) {
		alarms, gates := 0, 0
		arranged(from, CountPairs, func(pairs [][2]*results.Run) {
			gates++
			if got := commandChecks(variant, pairs); got[0].Outcome != Passed {
				alarms++
				t.Errorf("%s, %d pairs: %s", variant, len(pairs), got[0].Text)
			}
		})
		t.Logf("%s: %d of %d gates cry wolf", variant, alarms, gates)
	}
}

// A command more for each event of a kind is found after three pairs, whatever
// else varies: one that the build didn't use, and for each send another of what it
// issues for sends alone.
func TestCommandsOfAWorseBuild(t *testing.T) {
	for variant, from := range aaCommands(t) {
		from = from[:min(4, len(from))] // with more, the choices take long
		p := NewPairs(DefaultPairOptions())
		for _, pr := range from {
			p.Add(variant, "count", pr[0], pr[1])
		}
		for _, e := range p.variants[0].events() {
			names := []string{"type"}
			if e.word == "send" && from[0][0].Redis.Commandstats["xadd"] > 0 {
				names = append(names, "xadd")
			}
			for _, name := range names {
				arranged(from, CountPairs, func(pairs [][2]*results.Run) {
					got := commandChecks(variant, withMore(pairs, name, e))
					if t.Failed() { // one example says enough
						return
					}
					if len(got) != 1 || got[0].Outcome != Failed || !strings.HasPrefix(got[0].Metric, "Redis "+name+" per ") {
						t.Errorf("%s, %d pairs: a %s more per %s: %+v", variant, len(pairs), name, e.word, got)
					}
				})
			}
		}
	}
}

// Fewer calls never fail, however they vary; one more per event is found beside
// any number of calls that don't vary.
func TestCommandsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		calls := rapid.Int64Range(0, 1_000_000).Draw(t, "calls")
		more := rapid.SampledFrom([]int64{20, 40, 400, 780}).Draw(t, "more")
		pairs := counted(rapid.IntRange(CountPairs, 12).Draw(t, "pairs"))
		for _, pr := range pairs {
			pr[0].Redis.Commandstats["get"], pr[1].Redis.Commandstats["get"] = calls+more, calls
			pr[0].Redis.Commandstats["xrevrange"] -= rapid.Int64Range(0, 100).Draw(t, "fewer")
		}
		if got := commandChecks("v", pairs); len(got) != 1 || got[0].Outcome != Failed || !strings.HasPrefix(got[0].Metric, "Redis get per ") {
			t.Fatalf("%+v", got)
		}
	})
}
