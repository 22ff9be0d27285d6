package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ackmark/profiles"
	"ackmark/results"
)

func TestInterleaved(t *testing.T) {
	for _, tt := range []struct {
		variants, repeats int
		want              string
	}{
		{3, 3, "A1 B1 C1 C2 B2 A2 A3 B3 C3"},
		{2, 2, "A1 B1 B2 A2"},
		{1, 3, "A1 A2 A3"},
		{2, 1, "A1 B1"},
	} {
		got := ""
		for i, x := range interleaved(tt.variants, tt.repeats) {
			if i > 0 {
				got += " "
			}
			got += fmt.Sprintf("%c%d", 'A'+x.Setting, x.Repeat)
		}
		if got != tt.want {
			t.Errorf("%d variants, %d repeats: %s, want %s", tt.variants, tt.repeats, got, tt.want)
		}
	}
}

func turnsOf(names ...string) (c Config) {
	for _, n := range names {
		c.Settings = append(c.Settings, profiles.Setting{Name: n, Profile: &profiles.Profile{Repeats: 2}})
	}
	return c
}

func TestOrderIsChecked(t *testing.T) {
	for _, tt := range []struct {
		name string
		turn Turn
		done string
		want string
	}{
		{"a good one", Turn{1, 3}, "b", ""},
		{"no such setting", Turn{2, 1}, "b", "turn 0 asks for setting 2"},
		{"a negative one", Turn{-1, 1}, "b", "setting -1"},
		{"no such repeat", Turn{0, 0}, "b", "repeat 0"},
		{"a run of another profile", Turn{0, 1}, "z", `of variant "z"`},
	} {
		c := turnsOf("a", "b")
		c.Order, c.Done = []Turn{tt.turn}, []results.Run{{Variant: tt.done}}
		err := c.checkOrder()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// What was asked for decides what is judged: without an order everything, with
// one what it and earlier runs name, as often as the least of them.
func TestJudged(t *testing.T) {
	for _, tt := range []struct {
		name  string
		order []Turn
		done  string // variants of earlier runs
		want  string
	}{
		{"no order", nil, "a", "a b c ×2"},
		{"one turn", []Turn{{1, 7}}, "", "b ×1"},
		{"the rest of a sweep", []Turn{{0, 2}, {2, 1}, {2, 2}}, "abb", "a b c ×2"},
		{"not the rest", []Turn{{0, 2}, {2, 1}}, "abb", "a b c ×1"},
		{"nothing new", []Turn{}, "cc", "c ×2"},
	} {
		c := turnsOf("a", "b", "c")
		c.Order = tt.order
		for _, v := range tt.done {
			c.Done = append(c.Done, results.Run{Variant: string(v)})
		}
		rules, err := RulesOf(c.Settings)
		if err != nil {
			t.Fatal(err)
		}
		rules, got := c.judged(rules), ""
		for _, v := range rules.Variants {
			got += v.Name + " "
		}
		if got += fmt.Sprint("×", rules.Repeats); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// Runs that were measured earlier keep their order, and new ones are counted on
// from the last, whatever was left out in between.
func TestEarlier(t *testing.T) {
	c := Config{Done: []results.Run{{Number: 5, Variant: "e"}, {Number: 2, Variant: "b"}, {Number: 3, Variant: "c"}}}
	done, last := c.earlier()
	if len(done) != 3 || done[0].Number != 2 || done[2].Number != 5 || last != 5 {
		t.Errorf("%d runs, from %d to %d, the last is %d; want 3, from 2 to 5", len(done), done[0].Number, done[2].Number, last)
	}
	if c.Done[0].Number != 5 {
		t.Error("the caller's runs were put in order")
	}
	if _, last := (&Config{Done: make([]results.Run, 4)}).earlier(); last != 4 { // of a v1 file: without numbers
		t.Errorf("four runs without numbers: the last is %d", last)
	}
}

// A run that is handed on is judged by its own variant's rules, as if it had been
// asked for alone.
func TestJudgedAlone(t *testing.T) {
	c := turnsOf("a", "b")
	c.Settings[1].Expect = []string{"lost > 0"}
	rules, err := RulesOf(c.Settings)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rules.Variants {
		rules.Variants[i].Required = []string{}
	}
	run := func(variant string, lost int64) results.Run {
		r := results.Run{Variant: variant, Repeat: 9, Metrics: results.Values{}}
		r.Audit.Lost = lost
		r.SetAuditMetrics()
		return judgedAlone(r, rules)
	}
	for _, tt := range []struct {
		run  results.Run
		want bool // lost is among the reasons
	}{{run("a", 0), false}, {run("a", 3), true}, {run("b", 3), false}} {
		got := slices.ContainsFunc(tt.run.Verdict.Reasons, func(r results.Reason) bool { return r.Kind == results.ReasonInvariant && r.Metric == "lost" })
		if got != tt.want || tt.run.Repeat != 9 || tt.run.Verdict.Status == "" {
			t.Errorf("%s with %v lost: %+v; blamed for it: want %v", tt.run.Variant, *tt.run.Metrics["lost"], tt.run.Verdict, tt.want)
		}
	}
}
