package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ackmark/results"
)

// Schema is the identity of the JSON form.
const Schema = "ackmark/compare/v1"

// Options say what is compared and how.
type Options struct {
	Metrics     []string // of the registry; none: invariants, what is worth watching, and what changed
	Variants    []string // none: all that two sides or more have
	All         bool     // every metric that was measured
	Anyway      bool     // conclude from timings though environments differ
	Confidence  float64  // of intervals; 0 means 0.95
	Alpha       float64  // chance of calling any timing of a side changed that isn't; 0 means 0.05
	Seed        uint64   // of the bootstrap
	SingleSided bool     // one side is enough, for forms that leave comparing to others
}

// Comparison is what sides look like next to the first one.
type Comparison struct {
	Schema      string           `json:"schema"`
	Confidence  float64          `json:"confidence"`
	Alpha       float64          `json:"alpha"`
	Sides       []SideInfo       `json:"sides"`
	Differences []Difference     `json:"differences"`
	Warnings    []string         `json:"warnings"`
	Variants    []Variant        `json:"variants"`
	ExitCode    results.ExitCode `json:"exit_code"` // 0, or 3 when a side has no valid run

	sides    []Side
	explicit bool // the metrics were asked for, all or by name
}

// Variant is one variant on all sides.
type Variant struct {
	Name      string   `json:"name"`
	Sides     []Runs   `json:"sides"`
	Metrics   []Metric `json:"metrics"`
	Equal     []string `json:"equal"`     // counts that were left out since they are the same, within 1 %
	Totals    []string `json:"totals"`    // numbers that were left out since they differ with what was measured
	Identical int      `json:"identical"` // timings that were left out since they are one number in every run of all sides
	Quiet     int      `json:"quiet"`     // timings that were left out since they show no difference
	Undecided int      `json:"undecided"` // and since nothing can be concluded from them
}

// Metric is one metric of a variant on all sides.
type Metric struct {
	Name   string         `json:"name"`
	Title  string         `json:"title"`
	Unit   string         `json:"unit"`
	Class  results.Class  `json:"class"`
	Better results.Better `json:"better"`
	Cells  []Cell         `json:"cells"` // one per side
}

// Cell is one metric of one side; what concerns the first side is null there.
type Cell struct {
	N          int      `json:"n"`      // runs that have the number
	Median     *float64 `json:"median"` // of an invariant the worst run
	Low        *float64 `json:"low"`    // of the median's interval, null with too few runs; of a count the range
	High       *float64 `json:"high"`
	Ratio      *float64 `json:"ratio"` // of medians, to the first side; of a count see BySeed
	RatioLow   *float64 `json:"ratio_low"`
	RatioHigh  *float64 `json:"ratio_high"`
	P          *float64 `json:"p"` // of a timing, by itself
	AdjustedP  *float64 `json:"adjusted_p"`
	BySeed     *BySeed  `json:"by_seed"` // of a count, where the sides share a seed
	Outcome    Outcome  `json:"outcome"`
	Warnings   []string `json:"warnings"` // about these numbers, which travel with them
	notes      []string // of these, what stands below a table
	doubted    bool     // some runs lack it, can't be true or contradict each other
	samples    []float64
	attainable float64 // least p that so many runs can give
	family     family  // that it was adjusted for
}

// New compares the sides with the first. It refuses what has nothing to
// compare; what merely can't be trusted is in the comparison and its exit code.
func New(sides []Side, o Options) (*Comparison, error) {
	if o.Confidence == 0 {
		o.Confidence = 0.95
	}
	if o.Alpha == 0 {
		o.Alpha = 0.05
	}
	if err := o.check(sides); err != nil {
		return nil, err
	}
	sides, same := distinct(sides)
	c := &Comparison{Schema: Schema, Confidence: o.Confidence, Alpha: o.Alpha, sides: sides, explicit: o.All || len(o.Metrics) > 0,
		Differences: []Difference{}, Warnings: []string{}, Variants: []Variant{}}
	for i, s := range sides {
		info := describe(i, s)
		c.Sides = append(c.Sides, info)
		if info.Runs == info.Invalid {
			c.ExitCode = results.ExitInvalid
		}
	}
	names, err := c.shared(o)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		v := Variant{Name: name, Equal: []string{}, Totals: []string{}, Metrics: []Metric{}}
		for _, s := range sides {
			v.Sides = append(v.Sides, gather(s, c.nameOn(s, name)))
		}
		c.Variants = append(c.Variants, v)
	}
	c.compareConditions()
	c.measure(o)
	c.Warnings = append(c.Warnings, same...)
	c.warn(o)
	return c, nil
}

func (o Options) check(sides []Side) error {
	least := 2
	if o.SingleSided {
		least = 1
	}
	if len(sides) < least {
		return fmt.Errorf("%s given; comparing needs at least %d", results.Plural(len(sides), "side"), least)
	}
	for _, s := range sides {
		if len(s.Results) == 0 {
			return fmt.Errorf("%s holds no result", s.Label)
		}
	}
	for _, p := range []float64{o.Confidence, o.Alpha} {
		if !(p > 0 && p < 1) {
			return fmt.Errorf("%g is no probability between 0 and 1", p)
		}
	}
	var unknown []error
	for _, name := range o.Metrics {
		if _, ok := results.Lookup(name); !ok {
			unknown = append(unknown, fmt.Errorf("there is no metric %q; did you mean %s?", name, strings.Join(results.Similar(name, results.MetricNames()), ", ")))
		}
	}
	return errors.Join(unknown...)
}

// shared lists the variants that two sides or more have, in the first side's
// order. Sides with one variant each, whatever their names, are about each
// other.
func (c *Comparison) shared(o Options) ([]string, error) {
	on := map[string]int{}
	var order []string
	single, empty := len(o.Variants) == 0, 0
	for _, s := range c.sides {
		names := variantNames(s)
		if len(names) == 0 {
			empty++
			continue
		}
		single = single && len(names) == 1
		for _, name := range names {
			if on[name]++; on[name] == 1 {
				order = append(order, name)
			}
		}
	}
	if empty == len(c.sides) || len(variantNames(c.sides[0])) == 0 {
		return nil, nil // warn says that nothing was measured
	}
	if single {
		return []string{order[0]}, nil
	}
	for _, name := range o.Variants {
		if on[name] == 0 {
			return nil, fmt.Errorf("no side has a variant %q; there are %s", name, quoted(order))
		}
	}
	least := max(1, min(2, len(c.sides)-empty))
	var out []string
	for _, name := range order {
		wanted := len(o.Variants) == 0 || slices.Contains(o.Variants, name)
		if wanted && on[name] >= least && slices.Contains(variantNames(c.sides[0]), name) {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		var has []string
		for i, s := range c.sides {
			has = append(has, letter(i)+" has "+quoted(variantNames(s)))
		}
		return nil, fmt.Errorf("there is no variant that the first side shares with another: %s", strings.Join(has, ", "))
	}
	return out, nil
}

// nameOn is what the variant is called on a side: sides with one variant each
// are compared whatever its name.
func (c *Comparison) nameOn(s Side, name string) string {
	if own := variantNames(s); len(own) == 1 && len(variantNames(c.sides[0])) == 1 {
		return own[0]
	}
	return name
}
