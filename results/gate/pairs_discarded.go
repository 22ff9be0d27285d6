package gate

import (
	"fmt"

	"ackmark/results"
)

// discards counts the pairs of a variant that weren't used, by the side that
// couldn't be trusted. A pair that is measured again is one that is left out: where
// that falls on one side, what is left over isn't a fair sample of it.
type discards struct {
	candidate, reference int       // that side alone
	other                int       // for both, or two that don't belong together
	why                  [2]string // of the last that fell on the candidate alone, and on the reference
}

func (d discards) all() int { return d.candidate + d.reference + d.other }

func (d *discards) add(candidateBad, referenceBad bool, why string) {
	switch {
	case candidateBad && !referenceBad:
		d.candidate++
		d.why[0] = why
	case referenceBad && !candidateBad:
		d.reference++
		d.why[1] = why
	default:
		d.other++
	}
}

func (d discards) plus(o discards) discards {
	d.candidate, d.reference, d.other = d.candidate+o.candidate, d.reference+o.reference, d.other+o.other
	for i, why := range o.why {
		if why != "" {
			d.why[i] = why
		}
	}
	return d
}

// last says why the last pair was left out for the sake of the side that had more.
func (d discards) last() string {
	if d.candidate >= d.reference {
		return d.why[0]
	}
	return d.why[1]
}

// lopsidedAlpha is the error of the sign test below: 6 : 0 is lopsided, 5 : 0 isn't.
const lopsidedAlpha = 0.05

// lopsided tells whether pairs were discarded for one side's sake more often than a
// busy machine explains, which strikes either side alike: the exact two-sided sign
// test over those with one side at fault.
func (d discards) lopsided() (p float64, ok bool) {
	p = signTest(d.candidate, d.reference)
	return p, p < lopsidedAlpha
}

// signTest is the chance that of a + b fair coins so many or more fall on one side:
// 2 · Σ C(n, i) ÷ 2ⁿ for i ≥ max(a, b), at most 1.
func signTest(a, b int) float64 {
	n, k := a+b, max(a, b)
	term, tail := 1.0, 0.0 // C(n, i) ÷ 2ⁿ from i = n down
	for range n {
		term /= 2
	}
	for i := n; i >= k; i-- {
		tail += term
		term *= float64(i) / float64(n-i+1)
	}
	return min(1, 2*tail)
}

// check is inconclusive where discards are lopsided: with what was left out, the
// rest can't be a pass.
func (d discards) check(variant string) (Check, bool) {
	p, ok := d.lopsided()
	if !ok {
		return Check{}, false
	}
	return Check{Variant: variant, Metric: "discarded pairs", Gated: true, Outcome: Undecided,
		Text: fmt.Sprintf("%s; chance alone does that in %s of gates, so what was left out may be what differs between the builds; the last was left out since %s", d.sides(), percent(p), d.last())}, true
}

// sides says for whose sake pairs were discarded.
func (d discards) sides() string {
	text := fmt.Sprintf("discarded were %s for the candidate's sake alone and %d for the reference's", results.Plural(d.candidate, "pair"), d.reference)
	if d.other > 0 {
		text += fmt.Sprintf(", %d for neither alone", d.other)
	}
	return text
}

// tooMany says why it isn't gone on with. Where it is one side that fails so often,
// the machine is busy with that.
func (d discards) tooMany() string {
	text := results.Plural(d.all(), "pair") + " couldn't be trusted"
	if _, ok := d.lopsided(); ok {
		return fmt.Sprintf("%s: %s, last since %s; this machine is too busy, or too slow for that side", text, d.sides(), d.last())
	}
	return text + "; the machine is too busy to measure on"
}

// discarded joins those of all variants.
func (p *Pairs) discarded() (all discards) {
	for _, v := range p.variants {
		all = all.plus(v.discards)
	}
	return all
}

// lopsided are the variants whose discards are; where none is, all of them together
// may be.
func (p *Pairs) lopsided() (out []Check) {
	for _, v := range p.variants {
		if c, ok := v.discards.check(v.name); ok {
			out = append(out, c)
		}
	}
	if len(out) == 0 && len(p.variants) > 1 {
		if c, ok := p.discarded().check(""); ok {
			out = append(out, c)
		}
	}
	return out
}

// contradicted says that the candidate's own counts contradict each other in one
// pair, which no busy machine does: it isn't a failure yet, and no noise either.
func (v *paired) contradicted() []string {
	if len(v.broken) != 1 {
		return nil
	}
	return []string{fmt.Sprintf("%s: in one pair that was discarded the candidate's counts contradict each other, and the reference's don't: %s; a second one would fail", v.name, v.broken[0])}
}
