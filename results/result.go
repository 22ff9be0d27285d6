package results

import "time"

// The formats of the result file. All are read; SchemaCurrent is written unless
// an older one is asked for.
const (
	SchemaV1      = "ackmark/result/v1"
	SchemaV2      = "ackmark/result/v2" // adds what each variant sets and its hash, the seed, the order of runs, the sweep
	SchemaCurrent = SchemaV2
)

// Result is one measurement: all runs of all variants of one profile.
type Result struct {
	Schema      string      `json:"schema"`       // the format that the file had, see SchemaCurrent
	ToolVersion string      `json:"tool_version"` // of loadgen
	Started     time.Time   `json:"started"`
	Ended       time.Time   `json:"ended"`
	Interrupted bool        `json:"interrupted"` // ended by SIGINT or SIGTERM; holds what was measured so far
	Profile     Profile     `json:"profile"`
	Sweep       *Sweep      `json:"sweep"` // null unless this is one
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
	Seed       uint64   `json:"seed"`       // each repeat derives its own
	Source     string   `json:"source"`     // the YAML text as it was read
	Sets       []string `json:"sets"`       // --set key=value, in the order given
	Thresholds []string `json:"thresholds"` // as written in the profile
}

// Sweep says that the variants are the points of a grid.
type Sweep struct {
	Vary  []Axis `json:"vary"`
	Order uint64 `json:"order"` // seed of the random order in which the points were measured
}

// Axis is one key that a sweep varies, with its values in canonical text.
type Axis struct {
	Key    string   `json:"key"` // dotted key of the profile: clients.ack.every
	Values []string `json:"values"`
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
	Hash      string             `json:"hash"`       // sha256 of its resolved profile; "" in files of v1
	Set       map[string]string  `json:"set"`        // dotted key → canonical text: what makes it this variant, or point of a sweep
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
