package gate

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"ackmark/results"
)

// TestRepeatsAreHeldOneByOne: the repeats have seeds of their own, and what one of
// them does too much no other makes good.
func TestRepeatsAreHeldOneByOne(t *testing.T) {
	for _, tc := range []struct {
		name    string
		metric  string
		factors []float64
		want    results.ExitCode
		text    string
	}{
		{"one of three", "redis_commands_per_send", []float64{1, 100, 1}, results.ExitFail,
			"redis_commands_per_send is 100, the baseline has 1: ×100, allowed 1 %, in repeat 2 of 3"},
		{"up and down", "redis_commands_per_send", []float64{1.5, 0.5, 1}, results.ExitFail,
			"redis_commands_per_send is 1.5, the baseline has 1: +50 %, allowed 1 %, in repeat 1 of 3; repeat 2 is off too"},
		{"a worse one hides behind a better one", "redis_commands_per_send", []float64{0.1, 1, 1.02}, results.ExitFail,
			"redis_commands_per_send is 1.02, the baseline has 1: +2 %, allowed 1 %, in repeat 3 of 3; repeat 1 is off too"},
		{"better in one", "redis_commands_per_send", []float64{1, 1, 0.5}, results.ExitFail,
			"redis_commands_per_send is 0.5, the baseline has 1: −50 %, allowed 1 %, in repeat 3 of 3; that is better: if it is meant, make a new baseline, which needs no reason then"},
		{"all, each by another share", "redis_commands_per_send", []float64{2, 3, 2}, results.ExitFail,
			"redis_commands_per_send is 3, the baseline has 1: +200 %, allowed 1 %, in repeat 2 of 3; repeats 1 and 3 are off too"},
		{"all alike", "redis_commands_per_send", []float64{2, 2, 2}, results.ExitFail,
			"redis_commands_per_send is 2, the baseline has 1: +100 %, allowed 1 %, in each of 3 repeats"},
		{"within the tolerance, up and down", "redis_commands_per_send", []float64{1.009, 0.991, 1}, results.ExitPass, ""},
		{"memory of one", "memory_bytes_per_message", []float64{1, 1, 1.03}, results.ExitFail,
			"memory_bytes_per_message is 321 bytes, the baseline has 312 bytes: +3 %, allowed 2 %, in repeat 3 of 3"}, // 312 × 1.03 = 321.36
		{"memory within 2 %, up and down", "memory_bytes_per_message", []float64{1.019, 0.981, 1}, results.ExitPass, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b, r := baselineOf(t, sample(t, 3)), sample(t, 3)
			scaleEach(r, "each", tc.metric, tc.factors)
			rep := JudgeBaseline(r, b, reportOnly)
			if c := find(t, rep, "each", tc.metric); rep.ExitCode != tc.want || c.Text != tc.text {
				t.Errorf("exit %d: %q, want %d: %q", rep.ExitCode, c.Text, tc.want, tc.text)
			}
		})
	}
}

// scaleEach multiplies a metric of a variant by a factor for each repeat.
func scaleEach(r *results.Result, variant, metric string, factors []float64) {
	for i := range r.Runs {
		if x, ok := r.Runs[i].Metrics.Get(metric); ok && r.Runs[i].Variant == variant {
			r.Runs[i].Metrics.Set(metric, x*factors[r.Runs[i].Repeat-1])
		}
	}
}

// TestRepeatsInTheirOrder: repeat i is held against repeat i, in whatever order the
// runs stand; two that changed places are two seeds that did.
func TestRepeatsInTheirOrder(t *testing.T) {
	r := sample(t, 3)
	scaleEach(r, "each", "stored_bytes_per_message", []float64{1, 2, 3})
	b := baselineOf(t, r)
	slices.Reverse(r.Runs)
	if rep := JudgeBaseline(r, b, reportOnly); rep.ExitCode != results.ExitPass {
		t.Errorf("the same runs in another order: exit %d: %+v", rep.ExitCode, rep.Verdict.Reasons)
	}
	scaleEach(r, "each", "stored_bytes_per_message", []float64{2, 0.5, 1}) // 214 × 2, 1 and 3
	rep := JudgeBaseline(r, b, reportOnly)
	want := "stored_bytes_per_message is 428 bytes, the baseline has 214 bytes: +100 %, allowed 1 %, in repeat 1 of 3; repeat 2 is off too"
	if c := find(t, rep, "each", "stored_bytes_per_message"); rep.ExitCode != results.ExitFail || c.Text != want {
		t.Errorf("exit %d: %q, want %q", rep.ExitCode, c.Text, want)
	}
}

func TestUpdateOfOneWorseRepeat(t *testing.T) {
	for name, tc := range map[string]struct {
		factors []float64
		worse   string
	}{
		"one worse":             {[]float64{1, 1, 100}, "each: redis_commands_per_send was 1, is 100: ×100, allowed 1 %, in repeat 3 of 3"},
		"one worse, one better": {[]float64{0.5, 1.5, 1}, "each: redis_commands_per_send was 1, is 1.5: +50 %, allowed 1 %, in repeat 2 of 3; repeat 1 is off too"},
		"one better":            {[]float64{0.5, 1, 1}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			old, r := baselineOf(t, sample(t, 3)), sample(t, 3)
			scaleEach(r, "each", "redis_commands_per_send", tc.factors)
			_, worse, err := Update(old, r, later, UpdateOptions{})
			if tc.worse == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, ErrWorse) || strings.Join(worse, "\n") != tc.worse {
				t.Errorf("%q, %v; want %q", worse, err, tc.worse)
			}
		})
	}
}

// TestMoreRepeatsThanBefore: those that both have are held.
func TestMoreRepeatsThanBefore(t *testing.T) {
	old, r := baselineOf(t, sample(t, 2)), sample(t, 3)
	scaleEach(r, "each", "redis_commands_per_send", []float64{1, 1, 5})
	if _, worse, err := Update(old, r, later, UpdateOptions{}); err != nil {
		t.Errorf("a repeat that the old one doesn't have: %q, %v", worse, err)
	}
	scaleEach(r, "each", "redis_commands_per_send", []float64{1, 2, 1})
	if _, worse, err := Update(old, r, later, UpdateOptions{}); !errors.Is(err, ErrWorse) || len(worse) != 1 || !strings.Contains(worse[0], "in repeat 2 of 2") {
		t.Errorf("%q, %v", worse, err)
	}
}

// TestInvariantsShowWhatBreaksThem: one below 0 breaks them too.
func TestInvariantsShowWhatBreaksThem(t *testing.T) {
	b, r := baselineOf(t, sample(t, 3)), sample(t, 3)
	r.Runs[2].Metrics.Set("lost", -1)
	rep := JudgeBaseline(r, b, reportOnly)
	if c := find(t, rep, "each", "lost"); rep.ExitCode != results.ExitFail || *c.Candidate != -1 || c.Text != "lost is −1, must be 0" {
		t.Errorf("exit %d: %g, %q", rep.ExitCode, *c.Candidate, c.Text)
	}
}
