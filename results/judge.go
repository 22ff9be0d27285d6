package results

import (
	"fmt"
	"slices"
)

// Rules are what a result is judged by, beside the default invariants.
type Rules struct {
	Limits     Limits
	Thresholds []Condition   // of the profile
	Variants   []VariantRule // in the order of the tables
	Repeats    int           // per variant; fewer runs make the variant invalid
	// Required metrics make a run invalid when they are null. Nil means
	// DefaultRequired; metrics of conditions are always required.
	Required []string
}

// VariantRule is what one variant is judged by.
type VariantRule struct {
	Name      string
	AckPolicy string
	CrashOf   string            // the variant that this one is, with crashes; "" is none
	Hash      string            // of its resolved profile
	Set       map[string]string // what makes it this variant
	Expect    []Condition
	// Required is what Rules.Required says, for this variant; nil: that.
	Required []string
}

// Judge writes the verdict of each run, the summary and verdict of each
// variant, and the verdict and exit code of the whole. Judging again gives the
// same.
//
// A run is invalid when the generator is to blame, a figure is missing or two
// counts of one thing differ. Invariants must hold in every repeat. Thresholds
// and expectations are held against the median, and are inconclusive when too
// few repeats are on its side. Where reasons meet, a broken invariant comes
// first (late sends don't excuse a lost message) unless counts can't be
// trusted; then invalid, fail, inconclusive, pass.
func Judge(r *Result, rules Rules) {
	if rules.Required == nil {
		rules.Required = DefaultRequired()
	}
	r.Variants = make([]Variant, 0, len(rules.Variants))
	verdicts := make([]Verdict, 0, len(rules.Variants)+1)
	for _, rule := range rules.Variants {
		v := judgeVariant(r.RunsOf(rule.Name), rule, rules)
		r.Variants = append(r.Variants, v)
		verdicts = append(verdicts, v.Verdict)
	}
	if reason, ok := incomplete(r, rules); ok {
		verdicts = append(verdicts, verdictOf([]Reason{reason}))
	}
	r.Verdict = worst(verdicts)
	r.ExitCode = r.Verdict.Status.Exit()
	if r.Interrupted {
		r.ExitCode = ExitInterrupted
	}
}

// RunsOf returns the runs of a variant, in the order of the result.
func (r *Result) RunsOf(variant string) []*Run {
	var out []*Run
	for i := range r.Runs {
		if r.Runs[i].Variant == variant {
			out = append(out, &r.Runs[i])
		}
	}
	return out
}

func incomplete(r *Result, rules Rules) (Reason, bool) {
	switch {
	case r.Interrupted:
		return Reason{Kind: ReasonIncomplete, Text: fmt.Sprintf("interrupted after %d of %d runs", len(r.Runs), rules.Repeats*len(rules.Variants))}, true
	case len(rules.Variants) == 0:
		return Reason{Kind: ReasonIncomplete, Text: "nothing was measured"}, true
	}
	for _, run := range r.Runs {
		if !slices.ContainsFunc(rules.Variants, func(v VariantRule) bool { return v.Name == run.Variant }) {
			return Reason{Kind: ReasonIncomplete, Variant: run.Variant, Text: fmt.Sprintf("run of variant %q, which the profile doesn't have", run.Variant)}, true
		}
	}
	return Reason{}, false
}

func judgeVariant(runs []*Run, rule VariantRule, rules Rules) Variant {
	v := Variant{Name: rule.Name, AckPolicy: rule.AckPolicy, CrashOf: rule.CrashOf, Hash: rule.Hash, Set: rule.Set, Repeats: len(runs), Checks: []Check{}}
	conditions := rule.conditions(rules.Thresholds)
	if rule.Required != nil {
		rules.Required = rule.Required
	}
	verdicts := make([]Verdict, 0, len(runs)+1)
	for _, run := range runs {
		run.Verdict = judgeRun(run, conditions, rules)
		verdicts = append(verdicts, run.Verdict)
	}
	var reasons []Reason
	if len(runs) < rules.Repeats {
		reasons = append(reasons, Reason{Kind: ReasonMissing, Variant: rule.Name, Text: fmt.Sprintf("%d of %d repeats were measured", len(runs), rules.Repeats)})
	}
	v.Metrics = summarizeRuns(runs, rule.AckPolicy)
	for _, c := range conditions {
		check, reason := judgeCondition(c, rule.Name, v.Metrics[c.Metric.Name], runs, rules.Limits)
		v.Checks = append(v.Checks, check)
		if reason != nil {
			reasons = append(reasons, *reason)
		}
	}
	v.Verdict = worst(append(verdicts, verdictOf(reasons)))
	return v
}

// conditions joins invariants, thresholds and expectations of a variant: each
// condition once, and none that the variant expects to be broken, or lets be
// broken. Thresholds of its own may stand among its expectations.
func (rule VariantRule) conditions(thresholds []Condition) []Condition {
	var out, expected []Condition
	for _, c := range rule.Expect {
		if c.Source == FromExpect {
			expected = append(expected, c)
		} else {
			thresholds = append(slices.Clip(thresholds), c)
		}
	}
	for _, c := range slices.Concat(DefaultInvariants(), thresholds) {
		replaced := slices.ContainsFunc(expected, func(e Condition) bool { return e.Replaces(c) })
		if !replaced && !slices.ContainsFunc(out, c.same) {
			out = append(out, c)
		}
	}
	return append(out, expected...)
}

// guarantee tells whether every repeat must meet the condition. A variant that
// expects messages to be lost need not lose some each time.
func (c Condition) guarantee() bool { return c.Metric.Class == Invariant && c.Source != FromExpect }

// judgeCondition holds a condition against the repeats. Missing values and
// broken guarantees are reasons of the runs already.
func judgeCondition(c Condition, variant string, s Summary, runs []*Run, limits Limits) (Check, *Reason) {
	check := Check{Expression: c.Text, Source: c.Source, Status: Invalid, Value: s.Median}
	for _, run := range runs {
		if x, ok := run.Value(c.Metric.Name); ok && c.Met(x) {
			check.Met++
		}
	}
	if c.guarantee() && s.Max != nil {
		check.Value = s.Max
	}
	if s.Median == nil || s.N < len(runs) {
		if ofStore(c.Metric.Name) && c.Source == FromInvariant && allReduced(runs) {
			check.Status = Pass // not known of a foreign server, and the run says so
		}
		return check, nil
	}
	if c.guarantee() {
		check.Status = Pass
		if check.Met < len(runs) {
			check.Status = Fail
		}
		return check, nil
	}
	met := c.Met(*s.Median)
	agreeing := check.Met
	if !met {
		agreeing = len(runs) - check.Met
	}
	reason := Reason{Kind: ReasonThreshold, Variant: variant, Metric: c.Metric.Name, Value: s.Median, Limit: Number(c.Limit)}
	if c.Source == FromExpect {
		reason.Kind = ReasonExpect
	}
	sentence := fmt.Sprintf("%s is %s, %s", spoken(c.Metric.Name), s.text(), c.must())
	switch {
	case float64(agreeing) < limits.Agreement*float64(len(runs)):
		check.Status, reason.Kind = Inconclusive, ReasonDisagree
		reason.Text = fmt.Sprintf("%s: %d of %d repeats meet it", sentence, check.Met, len(runs))
	case met:
		check.Status = Pass
		return check, nil
	default:
		check.Status = Fail
		reason.Text = sentence
		if c.Source == FromExpect {
			reason.Text += " (what this variant is there to show)"
		}
	}
	return check, &reason
}

func allReduced(runs []*Run) bool {
	return !slices.ContainsFunc(runs, func(r *Run) bool { return !r.Audit.Reduced })
}

// text writes a median with its range: "248 ms (241 ms to 255 ms)".
func (s Summary) text() string {
	out := FormatValue(s.Unit, *s.Median)
	if s.N > 1 && *s.Min != *s.Max {
		out += fmt.Sprintf(" (%s to %s)", FormatValue(s.Unit, *s.Min), FormatValue(s.Unit, *s.Max))
	}
	return out
}

// summarizeRuns sums up every metric that any of the runs has.
func summarizeRuns(runs []*Run, ackPolicy string) map[string]Summary {
	out := map[string]Summary{}
	for _, m := range AllMetrics() {
		var samples []float64
		named := false
		for _, run := range runs {
			if run.has(m.Name) {
				named = true
			}
			if x, ok := run.Value(m.Name); ok {
				samples = append(samples, x)
			}
		}
		if !named {
			continue
		}
		s := Summary{Unit: m.Unit, Class: m.ClassUnder(ackPolicy), N: len(samples)}
		if median, least, greatest, ok := Summarize(samples); ok {
			s.Median, s.Min, s.Max = Number(median), Number(least), Number(greatest)
		}
		out[m.Name] = s
	}
	return out
}
