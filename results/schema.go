package results

import _ "embed"

//go:embed schema/v1.json
var schemaV1 string

// Schema returns the JSON Schema (2020-12) of the result file that this
// version writes, SchemaV1.
func Schema() []byte { return []byte(schemaV1) }
