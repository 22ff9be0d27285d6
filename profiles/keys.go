package profiles

import "slices"

// The types a key can have. The type decides how its text is read.
const (
	TypeText     = "text"
	TypeName     = "name"     // small letters, digits and '-'
	TypeChoice   = "choice"   // one of Key.Values
	TypeInteger  = "integer"  // a whole number
	TypeDuration = "duration" // ParseDuration
	TypeRate     = "rate"     // ParseRate
	TypePercent  = "percent"  // ParsePercent
	TypeBytes    = "bytes"    // ParseBytes
	TypeChecks   = "checks"   // a list of ParseThreshold texts
	TypeSettings = "settings" // dotted keys of this table with values
	TypeList     = "list"     // a list of sections, whose keys are NAME[].KEY
	TypeMetric   = "metric"   // the name of a metric; which there are is for package results to say
	TypeMetrics  = "metrics"  // a list of two of them
	TypeAxes     = "axes"     // dotted keys of this table with a list of values each
	TypePlanned  = "planned"  // known to the design, refused by this version
)

// Key is one row of the schema.
type Key struct {
	Name    string // dotted path; NAME[].KEY inside a list of sections
	Type    string
	Unit    string // what the number counts, "" where the type says it or there is none
	Default string // in canonical text; "" is empty
	Min     string // smallest value, in text; "" is no bound
	Max     string // largest value
	Above   string // the value must be larger than this
	Values  []string
	Planned []string // values the design knows and this version refuses
	Help    string

	Required bool
	Zero     bool // zero is taken too, though it is below Min
	Off      bool // "off" is a way to write zero, and the canonical one
	Whole    bool // of the whole profile: can't differ between variants
	Workload bool // decides what is measured: part of the hash
	Later    bool // came after profiles had been hashed: left out of the hash at its default, so that their hashes stand
}

// Schema is the table of all keys, in the order in which a profile is written.
func Schema() []Key {
	return slices.Concat(headKeys(), populationKeys(), serverKeys(), clientKeys(), trafficKeys(), runKeys())
}

func headKeys() []Key {
	return []Key{
		{Name: "profile", Type: TypeChoice, Values: []string{Version}, Required: true, Whole: true,
			Help: "version of the schema"},
		{Name: "name", Type: TypeName, Required: true, Whole: true,
			Help: "what the profile is called: small letters, digits and '-'"},
		{Name: "about", Type: TypeText, Whole: true,
			Help: "which question it answers and how to read the answer"},
		{Name: "seed", Type: TypeInteger, Default: "1", Min: "0", Whole: true,
			Help: "where all randomness starts; each repeat derives its own"},
	}
}
