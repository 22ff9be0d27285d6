package wire

import (
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// fields walks over the fields of one encoded message. After next, exactly one
// of its readers takes the value. The first error ends the walk.
type fields struct {
	in  string // the message's name, for errors
	b   []byte
	num protowire.Number
	typ protowire.Type
	err error
}

// next moves to the next field; false at the end or after an error.
func (f *fields) next() bool {
	if f.err != nil || len(f.b) == 0 {
		return false
	}
	if c := f.b[0]; c >= 1<<3 && c < 0x80 { // one byte: every tag of the hot messages
		f.num, f.typ, f.b = protowire.Number(c>>3), protowire.Type(c&7), f.b[1:]
		return true
	}
	num, typ, n := protowire.ConsumeTag(f.b)
	if n < 0 {
		f.fail("tag", n)
		return false
	}
	// ConsumeTag lets larger numbers through; the generated code doesn't.
	if num > protowire.MaxValidNumber {
		f.err = Faultf(CodeBadRequest, "%s: field number %d is out of range", f.in, num)
		return false
	}
	f.num, f.typ, f.b = num, typ, f.b[n:]
	return true
}

// uint takes a varint.
func (f *fields) uint(name string) uint64 {
	if f.typ != protowire.VarintType {
		f.wrongType(name, protowire.VarintType)
		return 0
	}
	v, n := protowire.ConsumeVarint(f.b)
	if n < 0 {
		f.fail(name, n)
		return 0
	}
	f.b = f.b[n:]
	return v
}

// bool takes a varint as a bool.
func (f *fields) bool(name string) bool { return f.uint(name) != 0 }

// bytes takes a length-delimited value; the result is part of the input.
func (f *fields) bytes(name string) []byte {
	if f.typ != protowire.BytesType {
		f.wrongType(name, protowire.BytesType)
		return nil
	}
	if len(f.b) > 0 {
		if end := int(f.b[0]) + 1; end <= 0x80 && end <= len(f.b) {
			v := f.b[1:end:end]
			f.b = f.b[end:]
			return v
		}
	}
	v, n := protowire.ConsumeBytes(f.b)
	if n < 0 {
		f.fail(name, n)
		return nil
	}
	f.b = f.b[n:]
	return v[:len(v):len(v)]
}

// str takes a string, which is UTF-8.
func (f *fields) str(name string) []byte {
	v := f.bytes(name)
	if !utf8.Valid(v) {
		f.err = Faultf(CodeBadRequest, "%s.%s: not valid UTF-8", f.in, name)
	}
	return v
}

// uints takes one or, packed, several varints of a repeated field.
func (f *fields) uints(name string, into []uint64) []uint64 {
	if f.typ != protowire.BytesType {
		return append(into, f.uint(name))
	}
	b := f.bytes(name)
	for len(b) > 0 {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			f.fail(name, n)
			return into
		}
		into, b = append(into, v), b[n:]
	}
	return into
}

// skip passes over an unknown field.
func (f *fields) skip() {
	n := protowire.ConsumeFieldValue(f.num, f.typ, f.b)
	if n < 0 {
		f.err = Faultf(CodeBadRequest, "%s: unknown field %d: %s", f.in, f.num, reason(protowire.ParseError(n)))
		return
	}
	f.b = f.b[n:]
}

func (f *fields) fail(name string, n int) {
	f.err = Faultf(CodeBadRequest, "%s.%s: %s", f.in, name, reason(protowire.ParseError(n)))
}

func (f *fields) wrongType(name string, want protowire.Type) {
	f.err = Faultf(CodeBadRequest, "%s.%s: wire type is %s, want %s", f.in, name, typeName(f.typ), typeName(want))
}

// reason is the text of an error of the protobuf library without its prefix,
// whose space varies from build to build. The error itself isn't wrapped: an
// unexpected EOF in there must not be taken for the connection's.
func reason(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "it ends too early"
	}
	return strings.TrimLeft(strings.TrimPrefix(err.Error(), "proto:"), " \u00a0")
}

func typeName(t protowire.Type) string {
	switch t {
	case protowire.VarintType:
		return "varint"
	case protowire.Fixed32Type:
		return "fixed32"
	case protowire.Fixed64Type:
		return "fixed64"
	case protowire.BytesType:
		return "length-delimited"
	case protowire.StartGroupType, protowire.EndGroupType:
		return "group"
	}
	return "reserved"
}
