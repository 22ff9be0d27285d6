package results

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"ackmark/profiles"
)

// A ladder of direct messages: 4 users with 10,000 friends each, of which 2,000
// have sent 3 messages: n = 6,000 per login, in pages of P = 100.
const (
	ladderUsers = 4
	friends     = 10_000
	waiting     = 6_000
	pages       = waiting / 100
)

// ladderRungs gives each rung its requests per login and its acks (design.md).
var ladderRungs = []struct {
	name           string
	requests, acks float64
	pages          float64
	removesOnPull  bool
}{
	{"d1", 1 + friends, 0, 2000, true},
	{"d3", 1, 0, 1, true},
	{"d4", pages, 0, pages, true},
	{"d5", pages + waiting, waiting, pages, false},
	{"d7", pages + 1, pages, pages, false},
}

func ladderRun(i, repeat int, crashed bool) Run {
	rung := ladderRungs[i]
	const deliveries = ladderUsers * waiting
	r := Run{
		Variant: rung.name, Repeat: repeat, Seed: uint64(repeat), Metrics: Values{},
		Phases:     []Phase{{"backlog", 0, 4000}, {"measure", 4000, 24_000}},
		Audit:      Audit{Sends: deliveries, Accepted: deliveries, Expected: deliveries, Deliveries: deliveries},
		Histograms: map[string]Histogram{"hiccup": figures(570, 4400, 7400), "schedule_lag": figures(70, 410, 1300), "offline_age": figures(6_100_000, 9_800_000, 9_900_000)},
	}
	m := map[string]float64{
		"deliveries_per_s": deliveries / 20, "achieved_percent": 100, "ack_requests": rung.acks * ladderUsers,
		"logins": ladderUsers, "requests_per_login": rung.requests, "pages_per_login": rung.pages,
		"ack_requests_per_delivery": rung.acks / waiting, "largest_response_bytes": 100 * 260,
		"redis_commands_per_send": 2, "redis_round_trips_per_send": 0.31, "rows_per_message": 2, "stored_bytes_per_message": 243, "memory_bytes_per_message": 371.5,
		"redis_commands_per_delivery": rung.requests * 2 / waiting, "redis_round_trips_per_delivery": rung.requests / waiting,
		"wire_bytes_per_delivery": 255 + 40*rung.requests/waiting, "server_cpu_us_per_delivery": 2 + 30*rung.requests/waiting, "redis_cpu_us_per_delivery": 1 + 9*rung.requests/waiting,
	}
	if rung.name == "d3" {
		m["largest_response_bytes"] = waiting * 260
	}
	sync := int64(40_000 + rung.requests*310)
	r.Histograms["page"], r.Histograms["sync"] = figures(900, 2400, 5000), figures(sync, sync*5/4, sync*5/4)
	if crashed {
		r.Variant += " crashed"
		m["crashes"], m["logins"], m["crash_dropped"] = ladderUsers, 2*ladderUsers, 0
		page := int64(waiting / rung.pages)
		if rung.removesOnPull {
			r.Audit.Lost = ladderUsers * page
			r.Audit.Deliveries -= r.Audit.Lost
			m["crash_dropped"] = float64(r.Audit.Lost)
		} else {
			r.Audit.Redelivered = ladderUsers * page
		}
	}
	for name, v := range m {
		r.Metrics.Set(name, v)
	}
	r.SetAuditMetrics()
	return r
}

func ladder(t testing.TB) (*Result, Rules) {
	t.Helper()
	r, rules := storm(t)
	r.Profile.Name, r.Runs, rules.Variants, rules.Thresholds = "ladder-direct", nil, nil, nil
	required := RequiredFor(&profiles.Profile{Traffic: profiles.Traffic{Login: &profiles.Login{}}})
	for i, rung := range ladderRungs {
		plain := VariantRule{Name: rung.name, AckPolicy: "none", Required: required}
		crashed := VariantRule{Name: rung.name + " crashed", AckPolicy: "none", CrashOf: rung.name, Required: append(slices.Clip(required), "crashes", "crash_dropped")}
		texts := []string{"crashes > 0"}
		if rung.removesOnPull {
			texts = append(texts, "lost > 0")
		}
		expect, err := Conditions(texts, FromExpect)
		if err != nil {
			t.Fatal(err)
		}
		crashed.Expect = expect
		rules.Variants = append(rules.Variants, plain, crashed)
		for repeat := 1; repeat <= 2; repeat++ {
			r.Runs = append(r.Runs, ladderRun(i, repeat, false), ladderRun(i, repeat, true))
		}
	}
	return r, rules
}

func TestLadderRows(t *testing.T) {
	r, rules := ladder(t)
	Judge(r, rules)
	if r.Verdict.Status != Pass {
		t.Fatalf("a ladder whose rungs lose by design: %s, %v", r.Verdict.Status, r.Verdict.Reasons)
	}
	rep := NewReport(r)
	if len(rep.Rows) != len(ladderRungs) {
		t.Fatalf("%d rows for %d rungs", len(rep.Rows), len(ladderRungs))
	}
	at := func(row Row, key string) float64 {
		i := slices.IndexFunc(rep.Columns, func(c Column) bool { return c.Key == key })
		if row.Cells[i].Value == nil {
			return -1
		}
		return *row.Cells[i].Value
	}
	for i, rung := range ladderRungs {
		row := rep.Rows[i]
		page := waiting / rung.pages
		lost, again := ladderUsers*page, 0.0
		if !rung.removesOnPull {
			lost, again = 0, ladderUsers*page
		}
		for key, want := range map[string]float64{
			"requests_per_login": rung.requests, "lost": 0, "redelivered": 0, "crashed_crashes": ladderUsers,
			"crashed_lost": lost, "crashed_redelivered": again, "crashed_shown_twice": 0, "live_p50_ms": -1,
		} {
			if got := at(row, key); got != want {
				t.Errorf("%s: %s is %g, want %g", row.Variant, key, got, want)
			}
		}
	}
	for _, i := range rep.shown() {
		if c := rep.Columns[i]; c.Key == "live_p50_ms" || c.Key == "member_lookups_per_send" || c.Key == "crashes" {
			t.Errorf("%s is shown, which no rung has", c.Key)
		}
	}
	r.Runs[0].Metrics.Set("beyond_window", 0)
	r.Runs[1].Metrics.Set("beyond_window", 0)
	Judge(r, rules)
	if shown := NewReport(r).shown(); len(shown) != len(rep.shown()) {
		t.Error("nothing beyond the window has a column")
	}
	r.Runs[0].Metrics.Set("beyond_window", 8)
	Judge(r, rules)
	if shown := NewReport(r).shown(); len(shown) != len(rep.shown())+1 {
		t.Error("8 beyond the window have none")
	}
}

// What the shipped profiles hold against their figures is in the registry.
func TestShippedProfiles(t *testing.T) {
	for _, info := range profiles.List() {
		source, err := profiles.Load(info.Name)
		if err != nil {
			t.Fatal(err)
		}
		settings, err := source.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range settings {
			if _, err := Conditions(s.Profile.Thresholds, FromThreshold); err != nil {
				t.Errorf("%s, %s: %v", info.Name, s.Name, err)
			}
			if _, err := Conditions(s.Expect, FromExpect); err != nil {
				t.Errorf("%s, %s: %v", info.Name, s.Name, err)
			}
		}
	}
}

func TestLadderVerdict(t *testing.T) {
	run := func(r *Result, variant string, repeat int) *Run {
		i := slices.IndexFunc(r.Runs, func(run Run) bool { return run.Variant == variant && run.Repeat == repeat })
		return &r.Runs[i]
	}
	lose := func(r *Result, variant string, n int64) {
		for repeat := 1; repeat <= 2; repeat++ {
			a := run(r, variant, repeat)
			a.Audit.Deliveries, a.Audit.Lost = a.Audit.Expected-n, n
			a.SetAuditMetrics()
		}
	}
	for _, tc := range []struct {
		name   string
		change func(r *Result)
		status Status
		row    string // the one that isn't pass
		reason string
	}{
		{"a rung that removes on pull loses nothing", func(r *Result) { lose(r, "d3 crashed", 0) }, Fail, "d3",
			"d3 crashed: lost is 0, must be above 0 (what this variant is there to show)"},
		{"a rung that removes on pull loses without a crash", func(r *Result) { lose(r, "d3", 7) }, Fail, "d3", "d3, repeat 1: lost is 7, must be 0"},
		{"a rung that acks loses", func(r *Result) { lose(r, "d7 crashed", 1) }, Fail, "d7", "d7 crashed, repeat 1: lost is 1, must be 0"},
		{"a rung that loses shows twice", func(r *Result) {
			for repeat := 1; repeat <= 2; repeat++ {
				run(r, "d1 crashed", repeat).Audit.ShownTwice = 2
				run(r, "d1 crashed", repeat).SetAuditMetrics()
			}
		}, Fail, "d1", "d1 crashed, repeat 1: shown_twice is 2, must be 0"},
		{"nobody crashed", func(r *Result) {
			for repeat := 1; repeat <= 2; repeat++ {
				run(r, "d5 crashed", repeat).Metrics.Set("crashes", 0)
			}
		}, Fail, "d5", "d5 crashed: crashes is 0, must be above 0"},
		{"crashes weren't counted", func(r *Result) { delete(run(r, "d4 crashed", 2).Metrics, "crashes") }, Invalid, "d4", "d4 crashed, repeat 2: crashes is missing"},
		{"logins weren't counted", func(r *Result) { delete(run(r, "d4", 2).Metrics, "requests_per_login") }, Invalid, "d4", "d4, repeat 2: requests_per_login is missing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, rules := ladder(t)
			tc.change(r)
			Judge(r, rules)
			if r.Verdict.Status != tc.status {
				t.Errorf("verdict %s, want %s: %v", r.Verdict.Status, tc.status, r.Verdict.Reasons)
			}
			if !slices.ContainsFunc(r.Verdict.Reasons, func(reason Reason) bool { return strings.Contains(reason.String(), tc.reason) }) {
				t.Errorf("no reason %q in %v", tc.reason, r.Verdict.Reasons)
			}
			for _, row := range NewReport(r).Rows {
				if want := row.Variant != tc.row; (row.Status == Pass) != want {
					t.Errorf("row %s is %s", row.Variant, row.Status)
				}
			}
		})
	}
}

// A crash variant whose other half wasn't measured has a row of its own; two of
// one rung share the rung's row, which shows the worse.
func TestLadderPairs(t *testing.T) {
	r := &Result{Variants: []Variant{
		{Name: "g3"},
		{Name: "g1 killed", CrashOf: "g1", Metrics: map[string]Summary{"lost": {N: 1, Median: Number(4), Min: Number(4), Max: Number(4)}}},
		{Name: "g3 crashed", CrashOf: "g3", Metrics: map[string]Summary{"lost": {N: 2, Median: Number(2), Min: Number(1), Max: Number(3)}}},
		{Name: "g3 killed", CrashOf: "g3", Metrics: map[string]Summary{"lost": {N: 1, Median: Number(2), Min: Number(2), Max: Number(2)}}},
		{Name: "g3 cut", CrashOf: "g3"},
	}}
	rep := NewReport(r)
	var rows []string
	for _, row := range rep.Rows {
		rows = append(rows, row.Variant)
	}
	if !slices.Equal(rows, []string{"g3", "g1 killed"}) {
		t.Fatalf("rows %v", rows)
	}
	i := slices.IndexFunc(rep.Columns, func(c Column) bool { return c.Key == "crashed_lost" })
	if c := rep.Rows[0].Cells[i]; *c.Value != 3 || *c.Min != 1 || *c.Max != 3 {
		t.Errorf("lost with crashes: %g (%g to %g), want 3 (1 to 3)", *c.Value, *c.Min, *c.Max)
	}
}

func TestLadderGolden(t *testing.T) {
	unmet := func(t *testing.T) (*Result, Rules) {
		r, rules := ladder(t)
		for i := range r.Runs {
			if r.Runs[i].Variant == "d4 crashed" {
				r.Runs[i].Audit.Lost, r.Runs[i].Audit.Deliveries = 0, r.Runs[i].Audit.Expected
				r.Runs[i].SetAuditMetrics()
			}
		}
		return r, rules
	}
	for _, tc := range []struct {
		name   string
		result func(*testing.T) (*Result, Rules)
		draw   func(*bytes.Buffer, Report) error
		width  int
	}{
		{"ladder-100.txt", func(t *testing.T) (*Result, Rules) { return ladder(t) }, text(100, false), 100},
		{"ladder-70.txt", func(t *testing.T) (*Result, Rules) { return ladder(t) }, text(70, false), 70},
		{"ladder.md", func(t *testing.T) (*Result, Rules) { return ladder(t) }, func(b *bytes.Buffer, r Report) error { return RenderMarkdown(b, r) }, 0},
		{"ladder.csv", func(t *testing.T) (*Result, Rules) { return ladder(t) }, func(b *bytes.Buffer, r Report) error { return RenderCSV(b, r) }, 0},
		{"ladder-unmet.txt", unmet, text(100, false), 100},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, rules := tc.result(t)
			Judge(r, rules)
			var b bytes.Buffer
			if err := tc.draw(&b, NewReport(r)); err != nil {
				t.Fatal(err)
			}
			golden(t, tc.name, b.Bytes())
			for line := range strings.Lines(b.String()) {
				if n := runes(strings.TrimSuffix(line, "\n")); tc.width > 0 && n > tc.width {
					t.Errorf("%d columns wide: %s", n, line)
				}
			}
		})
	}
}

// Thresholds that a variant sets itself yield to what it expects, as the
// profile's do.
func TestExpectationsReplaceOwnThresholds(t *testing.T) {
	rule := VariantRule{Expect: slices.Concat(conditions(t, FromThreshold, "lost == 0", "live.p99 < 250ms"), conditions(t, FromExpect, "lost > 0"))}
	var texts []string
	for _, c := range rule.conditions(nil) {
		if c.Metric.Name == "lost" || c.Metric.Unit == Microseconds {
			texts = append(texts, c.Text)
		}
	}
	if !slices.Equal(texts, []string{"live.p99 < 250ms", "lost > 0"}) {
		t.Errorf("judged by %q", texts)
	}
}

func TestRequiredFor(t *testing.T) {
	flow, login := &profiles.Flow{}, &profiles.Login{}
	for _, tc := range []struct {
		name    string
		traffic profiles.Traffic
		online  profiles.Percent
		crash   string
		fault   string
		has     []string
		hasnt   []string
	}{
		{"messages", profiles.Traffic{Group: flow}, 100, profiles.CrashOff, profiles.FaultKillServer, DefaultRequired(), []string{"logins", "crashes"}},
		{"crashing clients", profiles.Traffic{Group: flow}, 100, profiles.CrashOff, profiles.FaultCrashClients, []string{"crashes", "redelivered_per_crash"}, []string{"crash_dropped"}},
		{"nobody online", profiles.Traffic{Direct: flow}, 0, "", "", []string{"send.p99"}, []string{"live.p99", "logins"}},
		{"logins", profiles.Traffic{Login: login}, 0, "", "", []string{"logins", "requests_per_login", "sync.p99", "achieved_percent"}, []string{"live.p99", "send.p99", "crashes"}},
		{"a backlog only", profiles.Traffic{}, 100, "", "", []string{"deliveries", "hiccup.p99"}, []string{"live.p99", "send.p99", "achieved_percent", "schedule_lag.p99"}},
		{"all", profiles.Traffic{Direct: flow, Login: login}, 50, profiles.CrashMidSync, "", append(DefaultRequired(), "logins", "crashes", "crash_dropped"), nil},
	} {
		got := RequiredFor(&profiles.Profile{Traffic: tc.traffic, Clients: profiles.Clients{Online: tc.online, Crash: profiles.Crash{Between: tc.crash}},
			Faults: []profiles.Fault{{Kind: tc.fault}}})
		for _, name := range tc.has {
			if !slices.Contains(got, name) {
				t.Errorf("%s: %s isn't required", tc.name, name)
			}
		}
		for _, name := range tc.hasnt {
			if slices.Contains(got, name) {
				t.Errorf("%s: %s is required", tc.name, name)
			}
		}
		for _, name := range got {
			if _, ok := Lookup(name); !ok {
				t.Errorf("%s: %q is no metric", tc.name, name)
			}
		}
	}
}

func TestHiccupsAgainstLogins(t *testing.T) {
	r, rules := ladder(t)
	run := &r.Runs[0]
	run.Histograms["hiccup"] = figures(570, 30_000, 60_000)
	run.Histograms["page"] = figures(900, 50_000, 90_000)
	Judge(r, rules)
	if len(run.Warnings) != 1 || run.Warnings[0] != "the generator's hiccup p99 is 30 ms against 50 ms for page.p99: it may be much of that figure" {
		t.Errorf("warnings %q", run.Warnings)
	}
	if run.Verdict.Status != Pass {
		t.Errorf("counts hold all the same: %v", run.Verdict)
	}
}
