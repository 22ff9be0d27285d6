package results

import _ "embed"

var (
	//go:embed schema/v1.json
	schemaV1 string
	//go:embed schema/v2.json
	schemaV2 string
)

// Schemas returns the ids of all formats that Decode reads and EncodeAs writes,
// the oldest first.
func Schemas() []string { return []string{SchemaV1, SchemaV2} }

// Schema returns the JSON Schema (2020-12) of a format of the result file; nil
// for an id that is none of Schemas.
func Schema(id string) []byte {
	switch id {
	case SchemaV1:
		return []byte(schemaV1)
	case SchemaV2:
		return []byte(schemaV2)
	}
	return nil
}
