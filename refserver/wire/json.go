package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// EncodeJSON encodes a generated type, or any other, in the JSON form: names
// of the schema, seqs as numbers (they stay below 2^53), zero values of
// generated types left out, no HTML escapes, no newline at the end.
func EncodeJSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode JSON: %w", err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// DecodeJSON decodes exactly one JSON value, strictly: unknown fields, names
// in another case than the schema's, null, text that isn't UTF-8 and anything
// after the value are refused. Errors are *Fault, bad_request.
func DecodeJSON(b []byte, into any) error {
	if !utf8.Valid(b) {
		return Faultf(CodeBadRequest, "JSON: not valid UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return jsonFault(err)
	}
	end := dec.InputOffset()
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Faultf(CodeBadRequest, "JSON: something follows the value, which ends at byte %d; send one value", end)
	}
	return checkLiterals(b)
}

func jsonFault(err error) error {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return Faultf(CodeBadRequest, "JSON: the text ends too early")
	case errors.As(err, &syntax):
		return Faultf(CodeBadRequest, "JSON: %s at byte %d", syntax.Error(), syntax.Offset)
	case errors.As(err, &typ):
		where := typ.Field
		if where == "" {
			where = "the value"
		}
		return Faultf(CodeBadRequest, "JSON: %s is a %s at byte %d, want %s", where, typ.Value, typ.Offset, typ.Type)
	}
	return Faultf(CodeBadRequest, "JSON: %s; see the schema for the fields there are", err.Error())
}

// checkLiterals refuses what encoding/json lets through in valid JSON: names
// that match in another case, and null, which would leave holes in lists.
func checkLiterals(b []byte) error {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case 'n': // neither true, false nor a number has an n
			return Faultf(CodeBadRequest, "JSON: null at byte %d; leave the field out instead", i+1)
		case '"':
			start := i + 1
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if isName(b[i+1:]) && !isSnake(b[start:i]) {
				return Faultf(CodeBadRequest, "JSON: unknown field %q at byte %d; names are in lower case with underscores", clip(string(b[start:i])), start)
			}
		}
	}
	return nil
}

// isName tells whether the string before rest names a field.
func isName(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

func isSnake(name []byte) bool {
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}
