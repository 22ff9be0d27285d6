package compare

import (
	"fmt"
	"slices"
	"strings"

	"ackmark/results"
)

// Side is what is held against others: the runs of all its results are samples
// of it.
type Side struct {
	Label   string
	Results []*results.Result
}

// State says what the runs of one variant on one side are worth.
type State string

// The states.
const (
	Usable  State = "usable"
	Mixed   State = "mixed"   // its results measured different things, so they are no samples of one
	Partial State = "partial" // some runs are invalid and left out; which ones is no chance, so nothing is concluded
	Spoiled State = "invalid" // every run is; the numbers are shown, nothing is concluded
	Broken  State = "broken"  // messages were lost, shown twice or the like: whatever it saves is no saving
	Absent  State = "absent"  // the side doesn't have the variant
)

// Runs is what one side has of one variant.
type Runs struct {
	State   State  `json:"state"`
	Used    int    `json:"used"`    // runs that are samples
	Invalid int    `json:"invalid"` // runs that are invalid, used only where there is no other
	Why     string `json:"why"`     // of a state other than usable, for people

	runs      []*results.Run
	ackPolicy string
	hash      string
	set       map[string]string
	embedded  bool
}

// gather collects the runs of a variant.
func gather(s Side, variant string) Runs {
	g := Runs{State: Absent, Why: "it doesn't have this variant"}
	var valid, invalid []*results.Run
	var broken, why, whole string
	var first *results.Result
	mixed := false
	for _, r := range s.Results {
		i := slices.IndexFunc(r.Variants, func(v results.Variant) bool { return v.Name == variant })
		if i >= 0 && g.set == nil {
			g.ackPolicy, g.set = r.Variants[i].AckPolicy, r.Variants[i].Set
			g.hash = hashOf(r, variant)
		}
		if first == nil && len(r.RunsOf(variant)) > 0 {
			first = r
		}
		mixed = mixed || first != nil && len(r.RunsOf(variant)) > 0 && !sameSetting(first, r, variant)
		for k := range r.Runs {
			run := &r.Runs[k]
			switch {
			case run.Variant != variant:
				continue
			case !usable(r, run):
				invalid = append(invalid, run)
				why = firstReason(why, run.Verdict, "")
				if trusted(run.Verdict.Status) {
					whole = or(whole, asAWhole(r, variant))
				}
			default:
				valid = append(valid, run)
				broken = firstReason(broken, run.Verdict, results.ReasonInvariant)
			}
			g.embedded = g.embedded || isEmbedded(r)
		}
	}
	g.runs, g.Used, g.Invalid = valid, len(valid), len(invalid)
	switch all := len(valid) + len(invalid); {
	case all == 0:
		return g
	case len(valid) == 0:
		g.State, g.runs, g.Used = Spoiled, invalid, len(invalid)
		switch {
		case why == "" && whole != "":
			g.Why = whole
		case all == 1:
			g.Why = "its only run is invalid" + because(why)
		default:
			g.Why = fmt.Sprintf("all of its %d runs are invalid%s", all, because(or(why, whole)))
		}
	case broken != "":
		g.State, g.Why = Broken, broken
	case mixed:
		g.State, g.Why = Mixed, "its results measured different things, which are no samples of one; nothing is concluded"
	case len(invalid) > 0:
		g.State, g.Why = Partial, fmt.Sprintf("%d of its %s %s invalid and left out%s", len(invalid), results.Plural(all, "run"), are(len(invalid)), because(or(why, whole)))
	default:
		g.State, g.Why = Usable, ""
	}
	return g
}

// trusted tells whether the run's numbers may be used. A status that is none of
// the four is that of a run nobody judged.
func trusted(s results.Status) bool {
	return s == results.Pass || s == results.Fail || s == results.Inconclusive
}

// usable tells whether a run's numbers may be used: neither it nor its result as a
// whole is invalid.
func usable(r *results.Result, run *results.Run) bool {
	return trusted(run.Verdict.Status) && !condemned(r, run.Variant)
}

// condemned tells whether a variant is invalid though none of its runs is, as
// after an interruption, or with fewer repeats than were asked for. Which of the
// numbers are to blame can't be told, so none is used. Where runs are invalid,
// these are the reason, and leaving them out is enough.
func condemned(r *results.Result, variant string) bool {
	invalidRun, invalidVariant := false, false
	for i := range r.Runs {
		if !trusted(r.Runs[i].Verdict.Status) {
			if r.Runs[i].Variant == variant {
				return false
			}
			invalidRun = true
		}
	}
	for i := range r.Variants {
		if r.Variants[i].Verdict.Status == results.Invalid {
			if r.Variants[i].Name == variant {
				return true
			}
			invalidVariant = true
		}
	}
	return !trusted(r.Verdict.Status) && !invalidRun && !invalidVariant
}

// asAWhole words why a side is invalid though a run of it isn't; "" where each
// run is.
func (s Side) asAWhole() string {
	for _, r := range s.Results {
		for k := range r.Runs {
			if trusted(r.Runs[k].Verdict.Status) && condemned(r, r.Runs[k].Variant) {
				return asAWhole(r, r.Runs[k].Variant)
			}
		}
	}
	return ""
}

// asAWhole words why a condemned variant is.
func asAWhole(r *results.Result, variant string) string {
	for i := range r.Variants {
		if r.Variants[i].Name == variant && r.Variants[i].Verdict.Status == results.Invalid {
			return "the variant is invalid though none of its runs is" + because(firstReason("", r.Variants[i].Verdict, ""))
		}
	}
	return "the result is invalid though none of its runs is" + because(firstReason("", r.Verdict, ""))
}

func firstReason(have string, v results.Verdict, kind results.ReasonKind) string {
	if have != "" {
		return have
	}
	for _, r := range v.Reasons {
		if kind == "" || r.Kind == kind {
			text := results.OneLine(r.Text)
			if r.Kind == results.ReasonHealth {
				text, _, _ = strings.Cut(text, ": ") // what follows is the rule
			}
			return text
		}
	}
	return ""
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// hashOf identifies the setting of a variant; "" in files of v1.
func hashOf(r *results.Result, variant string) string {
	for _, v := range r.Variants {
		if v.Name == variant && v.Hash != "" {
			return v.Hash
		}
	}
	return ""
}

// sameSetting tells whether two results measured the same under a variant's
// name. Files of v1 have only the hash of the whole profile.
func sameSetting(a, b *results.Result, variant string) bool {
	if x, y := hashOf(a, variant), hashOf(b, variant); x != "" && y != "" {
		return x == y
	}
	return a.Profile.Hash == b.Profile.Hash
}

func isEmbedded(r *results.Result) bool {
	return slices.ContainsFunc(slices.Concat(r.Redis, r.Servers), func(n results.Node) bool { return n.Kind == results.Embedded })
}

// variantNames lists the variants of a side in the order of its results.
func variantNames(s Side) []string {
	var out []string
	for _, r := range s.Results {
		for _, v := range r.Variants {
			if !slices.Contains(out, v.Name) {
				out = append(out, v.Name)
			}
		}
		for _, run := range r.Runs { // of a result that was never judged
			if !slices.Contains(out, run.Variant) {
				out = append(out, run.Variant)
			}
		}
	}
	return out
}

// SideInfo describes a side for the head of a comparison.
type SideInfo struct {
	Letter   string         `json:"letter"` // A, B, …: what tables and plots call it
	Label    string         `json:"label"`
	Results  int            `json:"results"`
	Variants int            `json:"variants"`
	Runs     int            `json:"runs"`
	Invalid  int            `json:"invalid"` // of these runs, by themselves or with their result
	Status   results.Status `json:"status"`  // the worst verdict of its results
	Embedded bool           `json:"embedded"`
	Profile  string         `json:"profile"`
	Tool     string         `json:"tool"`
	Server   string         `json:"server"`  // version of the server under load
	Redis    string         `json:"redis"`   // version
	Started  string         `json:"started"` // of its first result, RFC 3339
}

func describe(i int, s Side) SideInfo {
	info := SideInfo{Letter: letter(i), Label: results.OneLine(s.Label), Results: len(s.Results), Variants: len(variantNames(s)), Status: results.Pass}
	order := []results.Status{results.Pass, results.Inconclusive, results.Fail, results.Invalid}
	worst := 0
	for _, r := range s.Results {
		info.Runs += len(r.Runs)
		for k := range r.Runs {
			if !usable(r, &r.Runs[k]) {
				info.Invalid++
			}
		}
		rank := slices.Index(order, r.Verdict.Status)
		if rank < 0 {
			rank = len(order) - 1
		}
		worst = max(worst, rank)
		info.Embedded = info.Embedded || isEmbedded(r)
	}
	info.Status = order[worst]
	all := func(of func(*results.Result) string) string {
		var out []string
		for _, r := range s.Results {
			if x := results.OneLine(of(r)); x != "" && !slices.Contains(out, x) {
				out = append(out, x)
			}
		}
		return strings.Join(out, ", ")
	}
	info.Profile = all(func(r *results.Result) string { return r.Profile.Name })
	info.Tool = all(func(r *results.Result) string { return r.ToolVersion })
	info.Server = all(func(r *results.Result) string { return versions(r.Servers) })
	info.Redis = all(func(r *results.Result) string { return r.Environment.RedisVersion })
	if len(s.Results) > 0 && !s.Results[0].Started.IsZero() {
		first := s.Results[0].Started
		for _, r := range s.Results {
			if r.Started.Before(first) {
				first = r.Started
			}
		}
		info.Started = first.UTC().Format("2006-01-02T15:04:05Z")
	}
	return info
}

func versions(nodes []results.Node) string {
	var out []string
	for _, n := range nodes {
		if n.Version != "" && !slices.Contains(out, n.Version) {
			out = append(out, n.Version)
		}
	}
	return strings.Join(out, ", ")
}

// letter names a side in tables and plots: A … Z, then A1 ….
func letter(i int) string {
	name := string(rune('A' + i%26))
	if i >= 26 {
		name += fmt.Sprint(i / 26)
	}
	return name
}
