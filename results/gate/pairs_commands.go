package gate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"ackmark/results"
)

// commandstats is the check that holds Redis' own counts of commands, by name.
// The server's counters tell what it says that it issued; these tell what came.
const commandstats = "Redis commandstats"

// The rule. A command is called more when, in all pairs of three or more but a
// fifth, the candidate has half a call more per event of the measured phase (send,
// delivery, ack request or login), leastCalls at least, and either
//
//   - that doesn't vary: these calls are the same per event in every pair, and beside
//     them the reference's own calls are, or
//   - it is much: a quarter of the reference's calls, of manyEvents or more.
//
// The numbers come from 75 A/A pairs of one build, of 18 variants of 6 profiles
// (testdata/aa-commandstats.csv), which TestCommandsOfTheSameBuild holds. There, 672
// of 959 counts were the same on both sides. What is issued once for an event (xadd,
// hset, hmget, zscore) differed by 3 calls of 350 at most, at the edge of the phase,
// and by 8 where the server was killed. What is issued for a batch or by a timer
// differed by up to 28 % of the calls and 0.4 calls per event, to either side: hence
// both conditions. Kills stretched that to 0.84 calls per login (of 5 % of the calls) and
// 53 % (of 15 calls), never to both at once. The numbers were chosen on these pairs,
// so that no false alarm in them is a fit and no proof. Where the rarest events were 4 logins it differed by 30 calls on
// none: hence manyEvents. One call more of 78 logins came three times over: hence
// half a call. A connection dialled again or a script tried again made one or two:
// hence leastCalls.
//
// Not found is what such variation hides: one call more for each of 40 logins, of
// a command that is called 640 times for pages and batches of acks.
const (
	perEvent   = 0.5  // calls more per event
	leastCalls = 3    // calls more
	alike      = 0.05 // how far calls more per event may lie from their median, relative to it
	steady     = 0.25 // how far the reference's calls, or those per event, may, relative to the calls more
	much       = 0.25 // calls more, relative to the reference's
	manyEvents = 10
)

// event is something that commands are issued for, with how often it happened in
// the measured phase, to which commandstats belong.
type event struct {
	word string
	in   func(*results.Run) float64
}

// events are those that every pair had on either side, the most frequent first;
// seconds stand in where there was none of them.
func (v *paired) events() []event {
	perSecond := func(metric string) func(*results.Run) float64 {
		return func(r *results.Run) float64 {
			x, _ := r.Value(metric)
			return x * r.MeasuredSeconds()
		}
	}
	all := []event{
		{"delivery", perSecond("deliveries_per_s")},
		{"ack request", func(r *results.Run) float64 { return float64(r.Acks.Requests) }},
		{"send", perSecond("offered_per_s")},
		{"login", func(r *results.Run) float64 { x, _ := r.Value("logins"); return x }},
	}
	had := func(e event) bool {
		return !slices.ContainsFunc(v.pairs, func(pr pair) bool { return e.often(pr) <= 0 })
	}
	all = slices.DeleteFunc(all, func(e event) bool { return !had(e) })
	if second := (event{"second", (*results.Run).MeasuredSeconds}); len(all) == 0 && had(second) {
		all = append(all, second)
	}
	total := func(e event) (n float64) {
		for _, pr := range v.pairs {
			n += e.often(pr)
		}
		return n
	}
	slices.SortStableFunc(all, func(a, b event) int { return cmp.Compare(total(b), total(a)) })
	return all
}

// often is how often it happened in a pair: the seed determines that for both
// sides, but for what lies at the edge of the phase.
func (e event) often(pr pair) float64 { return max(e.in(pr.candidate), e.in(pr.reference)) }

// commands holds those that Redis counted, of each variant.
func (p *Pairs) commands() []Check {
	var out []Check
	for _, v := range p.variants {
		out = append(out, v.commands()...)
	}
	return out
}

// commands holds each command that Redis counted on either side: a check for each
// that is called more, or one that none is. What isn't known of either side can't be
// held, and is reported as not compared; of one side alone it is invalid, as any
// count is.
func (v *paired) commands() []Check {
	whole := Check{Variant: v.name, Metric: commandstats, Class: results.Deterministic, Gated: true, Outcome: Passed}
	if len(v.pairs) == 0 {
		return nil
	}
	known := 0
	for _, pr := range v.pairs {
		has, hasToo := len(pr.reference.Redis.Commandstats) > 0, len(pr.candidate.Redis.Commandstats) > 0
		if has != hasToo {
			who := "candidate"
			if hasToo {
				who = "reference"
			}
			whole.Outcome, whole.Text = Bad, fmt.Sprintf("Redis' own counts of commands are missing on one side, the %s's, repeat %d", who, pr.candidate.Repeat)
			return []Check{whole}
		}
		if has {
			known++
		}
	}
	events := v.events()
	switch {
	case known == 0:
		return []Check{whole.uncompared("neither side has any")}
	case known < len(v.pairs):
		whole.Outcome, whole.Text = Bad, fmt.Sprintf("Redis' own counts of commands are there in %d of %s only", known, results.Plural(len(v.pairs), "pair"))
		return []Check{whole}
	case len(events) == 0:
		return []Check{whole.uncompared("how long was measured isn't known")}
	}
	var out []Check
	names := v.commandNames()
	for _, name := range names {
		if c, more := v.calledMore(name, events); more {
			out = append(out, c)
		}
	}
	if len(out) > 0 {
		return out
	}
	whole.Text = fmt.Sprintf("by Redis' own counts none of %s is called more for %s, in %s", results.Plural(len(names), "command"), anyOf(events), results.Plural(len(v.pairs), "pair"))
	return []Check{whole}
}

// uncompared is the check where nothing was held: no pass.
func (c Check) uncompared(why string) Check {
	c.Gated, c.Outcome = false, Reported
	c.Text = "Redis' own counts of commands were not compared: " + why
	return c
}

// commandNames are those of all runs, sorted.
func (v *paired) commandNames() []string {
	all := map[string]bool{}
	for _, pr := range v.pairs {
		for _, run := range []*results.Run{pr.candidate, pr.reference} {
			for name := range run.Redis.Commandstats {
				all[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// anyOf writes "a send, a delivery or a login", the events being in whatever order.
func anyOf(events []event) string {
	words := make([]string, len(events))
	for i, e := range events {
		words[i] = "a " + e.word
		if strings.HasPrefix(e.word, "ack") {
			words[i] = "an " + e.word
		}
	}
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// calledMore tells whether a command is called more than before for one of the
// events; of those that the rule holds for it names the one that makes the most of
// a whole number of calls. With fewer than three pairs that is not decided: chance
// alone may do it.
func (v *paired) calledMore(name string, events []event) (Check, bool) {
	n := len(v.pairs)
	c, found, apart := Check{}, false, math.Inf(1)
	for _, e := range events {
		moved, before, now := v.moved(name, e)
		more := now - before
		fromWhole := math.Abs(more - max(1, math.Round(more)))
		if moved < n-n/5 || fromWhole > apart-alike {
			continue
		}
		found, apart = true, fromWhole
		c = Check{Variant: v.name, Metric: fmt.Sprintf("Redis %s per %s", name, e.word), Class: results.Deterministic, Gated: true, Outcome: Failed,
			Reference: results.Number(before), Candidate: results.Number(now)}
		if before != 0 {
			c.Ratio = results.Number(now / before)
		}
		c.Text = fmt.Sprintf("by Redis' own count, calls of %s per %s are %s, were %s: more in %d of %s", name, e.word,
			results.FormatValue("", now), results.FormatValue("", before), moved, results.Plural(n, "pair"))
		if n < CountPairs {
			c.Outcome = Undecided
			c.Text += fmt.Sprintf("; that is decided after %d", CountPairs)
		}
	}
	return c, found
}

// moved counts the pairs in which a command is called more for an event, and
// returns the medians of calls per event on both sides.
func (v *paired) moved(name string, e event) (pairs int, before, now float64) {
	var was, is, calls, more []float64
	for _, pr := range v.pairs {
		x, y, often := float64(pr.reference.Redis.Commandstats[name]), float64(pr.candidate.Redis.Commandstats[name]), e.often(pr)
		was, is, calls, more = append(was, x/often), append(is, y/often), append(calls, x), append(more, (y-x)/often)
	}
	usualMore, usualCalls, usualWas := median(more), median(calls), median(was)
	for i, pr := range v.pairs {
		extra := float64(pr.candidate.Redis.Commandstats[name] - pr.reference.Redis.Commandstats[name])
		if extra < leastCalls || more[i] < perEvent {
			continue
		}
		same := !beyond(off(more[i], usualMore), alike) &&
			(!beyond((calls[i]-usualCalls)/extra, steady) || !beyond((was[i]-usualWas)/more[i], steady))
		if same || e.often(pr) >= manyEvents && extra >= much*calls[i] {
			pairs++
		}
	}
	return pairs, median(was), median(is)
}

// uncomparedNotes says for which variants Redis' counts weren't compared, and why:
// a line for each reason.
func uncomparedNotes(checks []Check) []string {
	var texts []string
	variants := map[string][]string{}
	for _, c := range checks {
		if c.Metric != commandstats || c.Outcome != Reported {
			continue
		}
		if variants[c.Text] == nil {
			texts = append(texts, c.Text)
		}
		variants[c.Text] = append(variants[c.Text], c.where())
	}
	for i, text := range texts {
		texts[i] = strings.Join(variants[text], ", ") + ": " + text
	}
	return texts
}
