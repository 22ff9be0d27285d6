package gate

import (
	"fmt"
	"slices"
	"strings"

	"ackmark/results"
)

// JudgeAgain judges a result that was read by the rules of its profile, as when it
// was measured, and says in what it contradicts itself, a sentence each. What a file
// says of itself is no proof: the verdicts that the result has afterwards are those
// of its figures. seedOf is the seed of a repeat, from 1, by the profile's seed.
func JudgeAgain(r *results.Result, rules results.Rules, seedOf func(repeat int) uint64) (contradictions []string) {
	say := func(format string, args ...any) {
		contradictions = append(contradictions, fmt.Sprintf(format, args...))
	}
	before, variants := r.Verdict, r.Variants
	verdicts := make([]results.Verdict, len(r.Runs))
	for i, run := range r.Runs {
		verdicts[i] = run.Verdict
		if want := seedOf(run.Repeat); run.Seed != want {
			say("%s, repeat %d, has the seed %d; the profile's gives that repeat %d", run.Variant, run.Repeat, run.Seed, want)
		}
	}
	results.Judge(r, rules)
	told := map[string]bool{} // variants: what a run says wrongly makes its variant and the whole wrong
	for i, run := range r.Runs {
		if differ(verdicts[i], run.Verdict) {
			say("%s, repeat %d, says of itself that it is %s; its figures are %s", run.Variant, run.Repeat, inShort(verdicts[i]), inShort(run.Verdict))
			told[run.Variant] = true
		}
	}
	for _, now := range r.Variants {
		i := slices.IndexFunc(variants, func(v results.Variant) bool { return v.Name == now.Name })
		if i < 0 {
			say("%s has runs and isn't among its variants", now.Name)
			continue
		}
		for _, text := range otherwise(variants[i], now, told[now.Name]) {
			say("%s %s", now.Name, text)
		}
	}
	for _, was := range variants {
		if !slices.ContainsFunc(r.Variants, func(v results.Variant) bool { return v.Name == was.Name }) {
			say("the profile doesn't have its variant %s", was.Name)
		}
	}
	if differ(before, r.Verdict) && len(contradictions) == 0 {
		say("it says of itself that it is %s; its figures are %s", inShort(before), inShort(r.Verdict))
	}
	return contradictions
}

// inShort is a verdict with the text of its first reason, where it is clear whose it
// is.
func inShort(v results.Verdict) string {
	out := described(results.Verdict{Status: v.Status})
	if len(v.Reasons) > 0 {
		out += ": " + v.Reasons[0].Text
	}
	if n := len(v.Reasons) - 1; n > 0 {
		out += fmt.Sprintf(" (and %d more)", n)
	}
	return out
}

// Contradiction joins what JudgeAgain found to one sentence: the first few tell what
// there is to tell.
func Contradiction(found []string) string {
	const shown = 3
	text := "the result contradicts itself: " + strings.Join(found[:min(len(found), shown)], "; ")
	if n := len(found) - shown; n > 0 {
		text += fmt.Sprintf("; and %d more", n)
	}
	return text
}

// differ tells whether two verdicts are of different status. Sentences may have been
// written otherwise by another version.
func differ(a, b results.Verdict) bool { return a.Status != b.Status }

// otherwise says in what a variant was judged otherwise than its figures are; told
// says that its runs were, which nothing is added to.
func otherwise(was, now results.Variant, told bool) (out []string) {
	if was.Hash != now.Hash {
		out = append(out, fmt.Sprintf("has the hash %s; the profile's is %s", short(was.Hash), short(now.Hash)))
	}
	if was.AckPolicy != now.AckPolicy {
		out = append(out, fmt.Sprintf("has the ack policy %q; the profile's is %q", was.AckPolicy, now.AckPolicy))
	}
	text := otherChecks(was.Checks, now.Checks)
	switch {
	case told:
	case text != "":
		out = append(out, text)
	case differ(was.Verdict, now.Verdict):
		out = append(out, fmt.Sprintf("says of itself that it is %s; its figures are %s", inShort(was.Verdict), inShort(now.Verdict)))
	}
	return out
}

// otherChecks says what is wrong with the first condition that isn't what it was.
func otherChecks(was, now []results.Check) string {
	of := func(list []results.Check, c results.Check) int {
		return slices.IndexFunc(list, func(o results.Check) bool { return o.Expression == c.Expression && o.Source == c.Source })
	}
	for _, c := range was {
		if of(now, c) < 0 {
			return fmt.Sprintf("was judged by its %s %q, which the profile doesn't have now", c.Source, c.Expression)
		}
	}
	for _, c := range now {
		i := of(was, c)
		if i < 0 {
			return fmt.Sprintf("wasn't judged by its %s %q, which the profile has now", c.Source, c.Expression)
		}
		if o := was[i]; o.Status != c.Status || o.Met != c.Met || !sameNumber(o.Value, c.Value) {
			return fmt.Sprintf("says of its %s %q: %s, %s, met by %s; its figures say: %s, %s, met by %s", c.Source, c.Expression,
				o.Status, valueText(o), results.Plural(o.Met, "repeat"), c.Status, valueText(c), results.Plural(c.Met, "repeat"))
		}
	}
	return ""
}

func sameNumber(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return !beyond(off(*a, *b), 1e-9)
}

// valueText writes the value of a condition in its metric's unit.
func valueText(c results.Check) string {
	if c.Value == nil {
		return "no value"
	}
	unit := ""
	if conditions, err := results.Conditions([]string{c.Expression}, c.Source); err == nil {
		unit = conditions[0].Metric.Unit
	}
	return results.FormatValue(unit, *c.Value)
}
