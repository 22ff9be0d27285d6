package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ackmark/results"
	"ackmark/results/gate"
)

// editedProfile writes the tests' profile with one text in place of another.
func editedProfile(t *testing.T, from, to string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "gate.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), from) {
		t.Fatalf("the profile has no %q", from)
	}
	path := filepath.Join(t.TempDir(), "edited.yaml")
	if err := os.WriteFile(path, []byte(strings.Replace(string(b), from, to, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// readAgain: what a result says of itself is no proof, and what it was measured by
// has to be what the profile says.
func readAgain(t *testing.T, result, baseline string) {
	file := filepath.Join(result, results.FileName)
	for name, c := range map[string]struct {
		change func(map[string]any)
		says   string
	}{
		"fails, it says":         {func(doc map[string]any) { object(doc, "verdict")["status"] = "fail" }, "it says of itself that it is fail"},
		"another seed of a run":  {func(doc map[string]any) { first(doc, "runs")["seed"] = 1 }, "has the seed 1"},
		"another seed":           {func(doc map[string]any) { object(doc, "profile")["seed"] = 2 }, "it says that its seed is 2; by the profile and its own --set it is 1"},
		"no checks":              {func(doc map[string]any) { first(doc, "variants")["checks"] = []any{} }, `wasn't judged by its invariant`},
		"lost, by the audit":     {func(doc map[string]any) { object(first(doc, "runs"), "audit")["lost"] = 5 }, "the metric says 0, the audit 5"},
		"an expectation's value": {func(doc map[string]any) { lastCheck(doc)["value"] = 9 }, `says of its expect "requests_per_login == 4": pass, 9, met by 2 repeats; its figures say: pass, 4`},
	} {
		changed := changed(t, file, c.change)
		o, rep := gateRun(t, "--result", changed, "--baseline", baseline, "--timings", "report")
		if o.code != 3 || len(checks(rep, "result", gate.Bad)) == 0 || !strings.Contains(o.out, strings.ReplaceAll(c.says, `"`, `\"`)) {
			t.Errorf("%s: exit %d, want 3 and %q\n%s%s", name, o.code, c.says, o.out, o.err)
		}
		fresh := filepath.Join(t.TempDir(), "fresh.json")
		o, _ = gateRun(t, "--result", changed, "--baseline", fresh, "--update-baseline")
		if _, err := os.Stat(fresh); o.code != 3 || err == nil || !strings.Contains(o.err, c.says) {
			t.Errorf("%s: a baseline of it: exit %d, want 3 and %q\n%s", name, o.code, c.says, o.err)
		}
	}
	for name, c := range map[string]struct {
		profile string
		code    int
		says    string
	}{
		"other users":      {editedProfile(t, "users: 6, groups: {count: 1, members: 6}", "users: 7, groups: {count: 1, members: 7}"), 2, "the profile's hash is "},
		"no such variant":  {editedProfile(t, "name: cursor", "name: log"), 2, `it has no variant "cursor"`},
		"other thresholds": {editedProfile(t, `"out_of_order == 0"]`, `"out_of_order == 0", "sync.p99 < 1us"]`), 3, `wasn't judged by its threshold "sync.p99 < 1µs", which the profile has now`},
		"expects another":  {editedProfile(t, "requests_per_login == 4", "requests_per_login == 5"), 3, `was judged by its expect "requests_per_login == 4", which the profile doesn't have now`},
		"only the words":   {editedProfile(t, "Do the tests of the gate work?", "Do they?"), 0, ""},
	} {
		t.Setenv("GITHUB_STEP_SUMMARY", "")
		o := loadgen("gate", c.profile, "--quiet", "--verbose", "--result", result, "--baseline", baseline, "--timings", "report")
		if o.code != c.code || !strings.Contains(strings.Join(strings.Fields(o.out+o.err), " "), c.says) {
			t.Errorf("%s: exit %d, want %d and %q\n%s%s", name, o.code, c.code, c.says, o.out, o.err)
		}
	}
}

// lastCheck is the last one of the first variant.
func lastCheck(doc map[string]any) map[string]any {
	list, _ := first(doc, "variants")["checks"].([]any)
	c, _ := list[len(list)-1].(map[string]any)
	return c
}

// TestGateSaysBefore: which baseline a copied profile is held against is said first.
func TestGateSaysBefore(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GITHUB_STEP_SUMMARY", "")
	own := editedProfile(t, "name: gate", "name: ci")
	if o := loadgen("gate", own, "--quiet"); o.code != 2 || !strings.Contains(o.err, "note: "+filepath.Join("results", "baselines", "ci.json")+
		" is the baseline of the shipped profile ci, since "+own+" says name: ci; give it a name of its own, or name its baseline with --baseline") {
		t.Errorf("the name of a shipped profile: exit %d\n%s", o.code, o.err)
	}
	if o := loadgen("gate", own, "--quiet", "--baseline", filepath.Join(dir, "own.json")); strings.Contains(o.err, "shipped") {
		t.Errorf("its own baseline:\n%s", o.err)
	}
}

// tooFew: before anything is measured it is said that so few repeats decide no
// timing, unless none is held. The Redis that isn't there ends it.
func tooFew(t *testing.T, baseline string) {
	t.Setenv("GITHUB_STEP_SUMMARY", "")
	t.Setenv("TMPDIR", t.TempDir())
	for name, c := range map[string]struct {
		more []string
		said bool
	}{
		"held":     {nil, true},
		"reported": {[]string{"--timings", "report"}, false},
		"none":     {[]string{"--metrics", "none"}, false},
	} {
		o := loadgen(gateArgs(append(c.more, "--baseline", baseline, "--redis", "redis://127.0.0.1:1", "--out", filepath.Join(t.TempDir(), "out"))...)...)
		said := strings.Contains(o.err, "note: timings can't be decided: 2 repeats here and 2 in the baseline are too few") && strings.Contains(o.err, "--timings report")
		if o.code != 5 || said != c.said {
			t.Errorf("%s: exit %d, said %v\n%s", name, o.code, said, o.err)
		}
	}
}
