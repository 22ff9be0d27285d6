package gate

import "ackmark/results"

// SchemaReport names the format of Report as JSON.
const SchemaReport = "ackmark/gate/v1"

// Mode is what a gate compares with.
type Mode string

// The modes.
const (
	AgainstBaseline Mode = "baseline" // a file
	AgainstBuild    Mode = "against"  // another build, or a second target, in interleaved pairs
)

// Report is what a gate found: one model that RenderText, RenderMarkdown,
// WriteJUnit and the JSON encoding show.
type Report struct {
	Schema             string               `json:"schema"` // SchemaReport
	Mode               Mode                 `json:"mode"`
	Profile            string               `json:"profile"`   // its name
	Candidate          string               `json:"candidate"` // what is judged, in words: "loadgen devel 8641c4f"
	Reference          string               `json:"reference"` // what it is held against: "results/baselines/ci.json of 2026-11-30"
	Differences        []results.Difference `json:"differences"`
	Pairs              int                  `json:"pairs"`               // measured; 0 against a baseline
	Discarded          int                  `json:"discarded"`           // pairs that were measured again since one side was invalid
	DiscardedCandidate int                  `json:"discarded_candidate"` // of these, with the candidate alone invalid
	DiscardedReference int                  `json:"discarded_reference"`
	Checks             []Check              `json:"checks"`
	Verdict            results.Verdict      `json:"verdict"`
	ExitCode           results.ExitCode     `json:"exit_code"`
	Notes              []string             `json:"notes"`
}

// Outcome is what became of one check.
type Outcome string

// The outcomes.
const (
	Passed    Outcome = "pass"
	Failed    Outcome = "fail"
	Bad       Outcome = "invalid"      // missing, empty or not to be trusted
	Undecided Outcome = "inconclusive" // the interval holds the tolerance
	Reported  Outcome = "reported"     // shown, not gated
	Refused   Outcome = "refused"      // gated, and not comparable: another machine, Go or Redis; counts as invalid
)

// Gated is a timing that is held, with its relative tolerance: 0.05 allows 5 % in
// the worse direction.
type Gated struct {
	Metric    string
	Tolerance float64
}

// Check is one metric of one variant. Numbers that are not known are null.
type Check struct {
	Variant   string        `json:"variant"` // "" when it concerns the whole
	Metric    string        `json:"metric"`  // or what else was held: "profile hash", "live.p99 < 250ms"
	Unit      string        `json:"unit"`
	Class     results.Class `json:"class"`
	Gated     bool          `json:"gated"`
	Outcome   Outcome       `json:"outcome"`
	Reference *float64      `json:"reference"` // median, in the metric's unit; the worst repeat for an invariant and a count against a baseline, the worst pair for a count that only some moved
	Candidate *float64      `json:"candidate"`
	Ratio     *float64      `json:"ratio"` // candidate ÷ reference; of a timing of pairs: the geometric mean of their ratios
	Low       *float64      `json:"low"`   // interval of the ratio
	High      *float64      `json:"high"`
	Tolerance *float64      `json:"tolerance"` // relative: 0.05 allows 5 % in the worse direction
	Text      string        `json:"text"`      // one sentence: why

	told bool // another check gives the reason, once for many
}
