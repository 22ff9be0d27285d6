package results

import "time"

// SchemaV1 names the format of the result file that this package writes.
const SchemaV1 = "ackmark/result/v1"

// Result is one measurement: all runs of all variants of one profile.
type Result struct {
	Schema      string      `json:"schema"`       // SchemaV1
	ToolVersion string      `json:"tool_version"` // of loadgen
	Started     time.Time   `json:"started"`
	Ended       time.Time   `json:"ended"`
	Interrupted bool        `json:"interrupted"` // ended by SIGINT or SIGTERM; holds what was measured so far
	Profile     Profile     `json:"profile"`
	Environment Environment `json:"environment"`
	Servers     []Node      `json:"servers"`
	Redis       []Node      `json:"redis"`
	Generators  []Node      `json:"generators"`
	Runs        []Run       `json:"runs"`
	Variants    []Variant   `json:"variants"` // written by Judge
	Verdict     Verdict     `json:"verdict"`  // written by Judge
	ExitCode    ExitCode    `json:"exit_code"`
}

// Profile says what was measured, completely enough to measure it again.
type Profile struct {
	Name       string   `json:"name"`
	Hash       string   `json:"hash"`       // sha256 of the resolved profile
	Source     string   `json:"source"`     // the YAML text as it was read
	Sets       []string `json:"sets"`       // --set key=value, in the order given
	Thresholds []string `json:"thresholds"` // as written in the profile
}

// NodeKind says who started a server, Redis or generator.
type NodeKind string

// The kinds of node.
const (
	Private  NodeKind = "private"  // a child process of this measurement
	Given    NodeKind = "given"    // was running already (--redis, --target)
	Embedded NodeKind = "embedded" // inside another process (miniredis); never a baseline
)

// Node is one server, Redis or generator that took part.
type Node struct {
	Name        string   `json:"name"` // "server 1"; never an address, which may hold a secret
	Kind        NodeKind `json:"kind"`
	Version     string   `json:"version"`      // "" where the node doesn't tell
	PinnedCores []int    `json:"pinned_cores"` // empty: not pinned
}

// Variant sums up the repeats of one named setting.
type Variant struct {
	Name      string             `json:"name"`
	AckPolicy string             `json:"ack_policy"` // decides the class of ack counts, see ClassUnder
	CrashOf   string             `json:"crash_of"`   // the variant that this one is, with crashes; "" is none
	Repeats   int                `json:"repeats"`
	Metrics   map[string]Summary `json:"metrics"` // by metric name, histograms as NAME.p50 … NAME.max
	Checks    []Check            `json:"checks"`  // invariants, thresholds, expectations
	Verdict   Verdict            `json:"verdict"`
}

// CheckSource says where a condition came from.
type CheckSource string

// The sources of a condition.
const (
	FromInvariant CheckSource = "invariant" // holds for every variant unless it expects otherwise
	FromThreshold CheckSource = "threshold" // thresholds of the profile
	FromExpect    CheckSource = "expect"    // expect of the variant
)

// Check is what became of one condition over the repeats of a variant.
type Check struct {
	Expression string      `json:"expression"`
	Source     CheckSource `json:"source"`
	Status     Status      `json:"status"`
	Value      *float64    `json:"value"` // the median, or the worst repeat for an invariant; in the metric's unit
	Met        int         `json:"met"`   // repeats that meet it
}
