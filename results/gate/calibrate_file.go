package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"ackmark/results"
)

// maxCalibration bounds what is loaded, in bytes.
const maxCalibration = 4 << 20

// EncodeCalibration returns the JSON of a valid calibration.
func EncodeCalibration(c *Calibration) ([]byte, error) {
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("encoding calibration: %w", err)
	}
	b, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return nil, fmt.Errorf("encoding calibration: %w", err)
	}
	return append(b, '\n'), nil
}

// DecodeCalibration reads the JSON of a calibration, strictly: its schema and
// none else, no unknown keys, nothing behind it.
func DecodeCalibration(text []byte) (*Calibration, error) {
	if err := ofSchema("calibration", text, SchemaCalibration); err != nil {
		return nil, err
	}
	var c Calibration
	if err := strict(text, &c); err != nil {
		return nil, explain("calibration", text, err)
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	return &c, nil
}

// WriteCalibration stores a calibration so that a reader finds either the whole
// file or what was there before.
func WriteCalibration(path string, c *Calibration) error {
	b, err := EncodeCalibration(c)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return results.WriteFile(path, b)
}

// ReadCalibration loads a calibration file.
func ReadCalibration(path string) (*Calibration, error) {
	text, err := load("calibration", path, maxCalibration)
	if err != nil {
		return nil, err
	}
	c, err := DecodeCalibration(text)
	if err != nil {
		return nil, fmt.Errorf("reading calibration %s: %w", path, err)
	}
	return c, nil
}

// Unlike says in what an environment differs from the one that was calibrated;
// none means that the tolerances are meant for it.
func (c *Calibration) Unlike(e results.Environment) []string {
	var out []string
	for _, d := range results.Differences(e, c.Environment) {
		out = append(out, fmt.Sprintf("%s: %s, calibrated was %s", d.What, d.A, d.B))
	}
	return out
}

// Gated returns the proposed tolerances, by name; none where every timing was
// too noisy to be held.
func (c *Calibration) Gated() []Gated {
	var out []Gated
	for _, name := range slices.Sorted(maps.Keys(c.Tolerances)) {
		out = append(out, Gated{name, c.Tolerances[name]})
	}
	return out
}

func (c *Calibration) validate() error {
	switch {
	case c.Schema != SchemaCalibration:
		return fmt.Errorf("schema is %q, should be %q", c.Schema, SchemaCalibration)
	case c.Date.IsZero():
		return errors.New("it has no date")
	case c.Pairs < leastPairs:
		return fmt.Errorf("pairs is %d, should be %d or more", c.Pairs, leastPairs)
	}
	// Looks and alpha are those of a gate that holds what is proposed.
	if err := (PairOptions{Metrics: c.Gated(), Looks: c.Looks, Alpha: c.Alpha}).Check(); err != nil {
		return err
	}
	for _, row := range c.Metrics {
		if _, known := results.Lookup(row.Metric); !known {
			return fmt.Errorf("metrics: there is no metric %q", row.Metric)
		}
		for _, x := range []*float64{row.Ratio, row.Spread, row.Tolerance, row.Finds} {
			if x != nil && (!(*x >= 0) || math.IsInf(*x, 0)) {
				return fmt.Errorf("metrics: %s of %s has the figure %g, should be 0 or more", row.Metric, row.Variant, *x)
			}
		}
	}
	return c.proposed()
}

// proposed finds tolerances that aren't those that follow from what was measured:
// the file says how far this machine can be trusted, not what somebody would like.
func (c *Calibration) proposed() error {
	follow := map[string]float64{}
	for _, row := range c.Metrics {
		switch {
		case row.Held && row.Tolerance == nil:
			return fmt.Errorf("metrics: %s of %s is held without a tolerance", row.Metric, row.Variant)
		case row.Held:
			follow[row.Metric] = max(follow[row.Metric], *row.Tolerance)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Tolerances)) {
		if x, ok := follow[name]; !ok || x != c.Tolerances[name] {
			return fmt.Errorf("tolerances: %s is %g, which doesn't follow from the metrics beside it; a tolerance of one's own is given by name, not in this file", name, c.Tolerances[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(follow)) {
		if _, ok := c.Tolerances[name]; !ok {
			return fmt.Errorf("tolerances: %s is missing, which the metrics beside it propose to hold", name)
		}
	}
	return nil
}
