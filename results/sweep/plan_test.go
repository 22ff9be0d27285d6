package sweep_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"ackmark/results"
	"ackmark/results/sweep"
)

func plan() *sweep.Plan {
	return &sweep.Plan{
		Schema: sweep.PlanSchema, Repeats: 3, Order: 5, Store: "private Redis",
		Vary:   []results.Axis{{Key: "clients.ack.every", Values: []string{"1", "2", "3"}}},
		Points: []sweep.PlanPoint{{Name: "every=1", Seconds: 10}, {Name: "every=2", Seconds: 10}, {Name: "every=3", Seconds: 20}},
	}
}

func TestOrder(t *testing.T) {
	p := plan()
	turns := p.Turns()
	if !reflect.DeepEqual(turns, p.Turns()) {
		t.Error("one seed gives two orders")
	}
	for repeat := range 3 { // each round has each point once
		round := slices.Clone(turns[3*repeat : 3*repeat+3])
		slices.SortFunc(round, func(a, b sweep.Turn) int { return a.Point - b.Point })
		if want := []sweep.Turn{{0, repeat + 1}, {1, repeat + 1}, {2, repeat + 1}}; !reflect.DeepEqual(round, want) {
			t.Errorf("round %d: %v", repeat+1, round)
		}
	}
	orders := map[string]bool{}
	for seed := range uint64(40) {
		p.Order = seed
		text := ""
		for _, turn := range p.Turns()[:3] {
			text += string(rune('0' + turn.Point))
		}
		orders[text] = true
	}
	if len(orders) != 6 {
		t.Errorf("40 seeds give %d of 6 orders", len(orders))
	}
}

func TestLeft(t *testing.T) {
	p := plan()
	turns := []sweep.Turn{{Point: 0, Repeat: 1}, {Point: 2, Repeat: 1}}
	if got := p.Left(turns, 0, 0, 0); got != 36*time.Second { // 10 + 20 and 3 each
		t.Errorf("before the first run %v, want 36s", got)
	}
	if got := p.Left(turns, 22*time.Second, 20*time.Second, 2); got != 32*time.Second { // a second more per run
		t.Errorf("after two runs %v, want 32s", got)
	}
}

func TestPlanFile(t *testing.T) {
	b, err := plan().Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := sweep.DecodePlan(b)
	if err != nil || !reflect.DeepEqual(again.Points, plan().Points) || len(sweep.Changed(plan(), again)) != 0 {
		t.Errorf("%+v, %v, changed %q", again, err, sweep.Changed(plan(), again))
	}
	for _, bad := range []string{"", "{}", string(b[:len(b)/2]), string(b) + "x", strings.Replace(string(b), `"order"`, `"odor"`, 1), strings.Replace(string(b), sweep.PlanSchema, "ackmark/sweep/v9", 1)} {
		if _, err := sweep.DecodePlan([]byte(bad)); err == nil {
			t.Errorf("read as a plan: %q", bad)
		}
	}
	for text, want := range map[string]string{"": "the file is empty", string(b[:len(b)/2]): "the end is missing"} {
		if _, err := sweep.DecodePlan([]byte(text)); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, should end with: %s", err, want)
		}
	}
	other := plan()
	other.Sets, other.Order, other.Vary[0].Values = []string{"repeats=3"}, 6, []string{"1", "2"}
	if got := strings.Join(sweep.Changed(plan(), other), "; "); got != "--vary was clients.ack.every=1,2,3, is clients.ack.every=1,2; --set (with --repeats and --seed) was none, is repeats=3; --order-seed was 5, is 6" {
		t.Error(got)
	}
	other = plan()
	other.Source, other.File = "name: b", "b.yaml"
	if got := sweep.Changed(plan(), other); len(got) != 1 || got[0] != "the profile was none, is b.yaml" {
		t.Errorf("another profile: %q", got)
	}
}
