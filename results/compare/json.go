package compare

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

//go:embed schema/v1.json
var schemaV1 string

// JSONSchema returns the JSON Schema (2020-12) of what Encode writes.
func JSONSchema() []byte { return []byte(schemaV1) }

// Encode returns the comparison as indented JSON: null for what is no number or
// doesn't apply, lists that are empty rather than null.
func (c *Comparison) Encode() ([]byte, error) {
	b, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return nil, fmt.Errorf("encoding the comparison: %w", err)
	}
	return append(b, '\n'), nil
}
