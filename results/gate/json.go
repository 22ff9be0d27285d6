package gate

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"ackmark/results"
)

var (
	//go:embed schema/v1.json
	schemaV1 string
	//go:embed schema/baseline-v1.json
	schemaBaselineV1 string
	//go:embed schema/calibration-v1.json
	schemaCalibrationV1 string
)

// Schema returns the JSON Schema (2020-12) of the report, SchemaReport.
func Schema() []byte { return []byte(schemaV1) }

// BaselineSchema returns the JSON Schema of the baseline file, SchemaBaseline.
func BaselineSchema() []byte { return []byte(schemaBaselineV1) }

// CalibrationSchema returns the JSON Schema of the calibration file,
// SchemaCalibration.
func CalibrationSchema() []byte { return []byte(schemaCalibrationV1) }

// difference is a results.Difference as the report writes it.
type difference struct {
	What      string `json:"what"`
	Reference string `json:"reference"`
	Candidate string `json:"candidate"`
}

// MarshalJSON writes the report with lists that are empty rather than null, and
// with null for what is no number.
func (rep Report) MarshalJSON() ([]byte, error) {
	type plain Report
	out := struct {
		plain
		Differences []difference `json:"differences"`
	}{plain: plain(rep), Differences: []difference{}}
	for _, d := range rep.Differences {
		out.Differences = append(out.Differences, difference{d.What, d.A, d.B})
	}
	out.Checks = make([]Check, len(rep.Checks))
	for i, c := range rep.Checks {
		for _, p := range []**float64{&c.Reference, &c.Candidate, &c.Ratio, &c.Low, &c.High, &c.Tolerance} {
			if *p != nil {
				*p = results.Number(**p)
			}
		}
		out.Checks[i] = c
	}
	out.Notes = append([]string{}, rep.Notes...)
	out.Verdict.Reasons = append([]results.Reason{}, rep.Verdict.Reasons...)
	return json.Marshal(out)
}

// Encode returns the report as indented JSON.
func Encode(rep Report) ([]byte, error) {
	b, err := json.MarshalIndent(rep, "", " ")
	if err != nil {
		return nil, fmt.Errorf("encoding the gate's report: %w", err)
	}
	return append(b, '\n'), nil
}
