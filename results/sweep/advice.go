package sweep

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"ackmark/results"
)

// Advice says which point is recommended, why, and how sure that is: a line of
// text each, further ones indented. Nil where nothing was to be chosen.
func (t *Table) Advice() []string {
	if t.Choice == nil {
		return nil
	}
	if t.Choice.Point == nil {
		return t.nothing()
	}
	rec, q := t.Choice, t.Question
	if rec.NoChoice {
		return slices.Concat(t.noChoice(), t.written(rec.Point))
	}
	out := []string{"recommended: " + rec.Point.Name, "  " + t.because()}
	value := func(o *Other) string {
		text := format(q.Objective, o.Value)
		if rec.Value != 0 {
			text += fmt.Sprintf(" (%s)", signed(o.Value/rec.Value-1))
		}
		return text
	}
	switch {
	case rec.Next != nil:
		out = append(out, fmt.Sprintf("  next best: %s with %s", rec.Next.Point.Name, value(rec.Next)))
	default:
		out = append(out, "  no other point is eligible")
	}
	switch {
	case rec.Forbidden != nil:
		out = append(out, fmt.Sprintf("  better, but not eligible: %s with %s: %s", rec.Forbidden.Point.Name, value(rec.Forbidden), strings.Join(rec.Forbidden.Why, ", ")))
	case len(q.Constraints) > 0:
		out = append(out, "  no point that passed would be better without the constraints")
	}
	out = append(out, "  "+t.howSure())
	if text := t.openText(mightBeBetter); text != "" {
		out = append(out, "  "+text)
	}
	if len(rec.Alike) > 0 {
		var names []string
		for _, r := range rec.Alike {
			names = append(names, r.Name)
		}
		out = append(out, "  not told apart from it: "+strings.Join(names, "; "))
	}
	return append(out, t.written(rec.Point)...)
}

const mightBeBetter = ", and might be better"

// noChoice is the advice where one point alone could be judged.
func (t *Table) noChoice() []string {
	return []string{
		fmt.Sprintf("no choice: of %s only %s could be judged", results.Plural(len(t.Rows), "point"), t.Choice.Point.Name),
		"  " + t.because(),
		"  how sure: not at all, there was nothing to choose from",
		"  " + t.openText(mightBeBetter),
	}
}

func (t *Table) because() string {
	rec, q := t.Choice, t.Question
	least := "least"
	if q.Objective.Better == results.Higher {
		least = "most"
	}
	text := fmt.Sprintf("%s is %s, the %s of %d eligible points, of %d", q.Objective.Name, format(q.Objective, rec.Value), least, rec.Eligible, len(t.Rows))
	switch {
	case rec.NoChoice:
		text = fmt.Sprintf("%s is %s", q.Objective.Name, format(q.Objective, rec.Value))
	case rec.Eligible == 1:
		text = fmt.Sprintf("%s is %s: the only eligible point, of %d", q.Objective.Name, format(q.Objective, rec.Value), len(t.Rows))
	}
	for i, c := range q.Constraints {
		v, _ := rec.Point.Value(c.Metric)
		joint := "; it meets "
		if i > 0 {
			joint = ", "
		}
		text += fmt.Sprintf("%s%s (%s)", joint, c.Text, format(c.Metric, v))
	}
	return text
}

func (t *Table) howSure() string {
	rec := t.Choice
	if rec.Sure == nil {
		var one []string
		for _, r := range t.Rows {
			if r.repeats() == 1 {
				one = append(one, r.Name)
			}
		}
		if len(one)+len(rec.Unmeasured) < len(t.Rows) {
			return fmt.Sprintf("how sure: not known, of %s there is one repeat only so far; more would tell", some(one))
		}
		return "how sure: not known, a point has one repeat only; --repeats 3 or more would tell"
	}
	text := fmt.Sprintf("how sure: still chosen in %s of %d resamples of the %d repeats", results.FormatValue("percent", *rec.Sure*100), resamples, rec.Repeats)
	if len(rec.Unjudged) > 0 {
		text += ", among the points that could be judged"
	}
	if rec.Repeats < 5 {
		text += "; that few repeats look surer than they are"
	}
	return text
}

// some lists a few names, and how many more there are.
func some(names []string) string {
	const most = 3
	if n := len(names); n > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], "; "), n-most)
	}
	return strings.Join(names, "; ")
}

// nothing says why no point can be recommended.
func (t *Table) nothing() []string {
	out := []string{fmt.Sprintf("recommended: nothing, none of the %d points is eligible", len(t.Rows))}
	for i, e := range t.Choice.Excluded {
		what := e.What
		if what == "the objective" {
			what += ", " + t.Question.Objective.Name + ","
		}
		text := fmt.Sprintf("%s excludes %d", what, e.Points)
		if e.Unmeasured > 0 {
			text += fmt.Sprintf(", %d of them for want of the figure", e.Unmeasured)
		}
		if i == 0 && len(t.Choice.Excluded) > 1 {
			text += ", the most"
		}
		out = append(out, "  "+text)
	}
	if text := t.openText(", and might be eligible"); text != "" {
		out = append(out, "  "+text)
	}
	return out
}

// Excludes names what excludes most points, where none is eligible.
func (r *Recommendation) Excludes() string {
	if r.Point != nil || len(r.Excluded) == 0 {
		return ""
	}
	return r.Excluded[0].What
}

// written is the setting as it would be written down: in a profile, as flags of
// loadgen, and as flags of the server as far as it has some.
func (t *Table) written(r *Row) []string {
	keys := slices.Sorted(maps.Keys(r.Set))
	if len(keys) == 0 {
		return nil
	}
	var sets, flags []string
	for _, k := range keys {
		sets = append(sets, "--set "+Quoted(k+"="+r.Set[k]))
		if f, ok := serverFlag(k, r.Set[k]); ok {
			flags = append(flags, f)
		}
	}
	out := []string{inProfile + yamlOf(r.Set), forRun + strings.Join(sets, " ")}
	if len(flags) > 0 {
		out = append(out, forServer+"refserver serve "+strings.Join(flags, " "))
	}
	return out
}

// What the lines of written begin with.
const (
	inProfile = "  in a profile: "
	forRun    = "  for loadgen run: "
	forServer = "  for the server: "
)

// forPasting tells a line that is to be copied as it is: broken within quotes, a
// shell would take it for something else.
func forPasting(line string) bool {
	return strings.HasPrefix(line, inProfile) || strings.HasPrefix(line, forRun) || strings.HasPrefix(line, forServer)
}

func serverFlag(key, value string) (string, bool) {
	name, ofServer := strings.CutPrefix(key, "server.")
	switch key {
	case "server.sender_index":
		return "--sender-index=" + fmt.Sprint(value == "on"), true
	case "clients.window":
		return "--window " + value, true
	}
	return "--" + strings.ReplaceAll(name, "_", "-") + " " + value, ofServer
}

// Quoted writes a word for a shell.
func Quoted(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,=_/%-+:") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// yamlOf nests dotted keys: {clients: {ack: {every: 10}}}, without the outer
// braces.
func yamlOf(set map[string]string) string {
	type node struct {
		value string
		below map[string]*node
	}
	root := &node{below: map[string]*node{}}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		at := root
		for word := range strings.SplitSeq(key, ".") {
			if at.below == nil {
				at.below = map[string]*node{}
			}
			if at.below[word] == nil {
				at.below[word] = &node{}
			}
			at = at.below[word]
		}
		at.value = set[key]
	}
	var text func(n *node) string
	text = func(n *node) string {
		if n.below == nil {
			return n.value
		}
		var parts []string
		for _, word := range slices.Sorted(maps.Keys(n.below)) {
			parts = append(parts, word+": "+text(n.below[word]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	s := text(root)
	return s[1 : len(s)-1]
}

func format(m results.Metric, v float64) string { return results.FormatValue(m.Unit, v) }

func signed(ratio float64) string {
	sign := "+"
	if ratio < 0 {
		sign = "−"
	}
	return sign + results.FormatValue("percent", math.Abs(ratio)*100)
}
