// Package wire is the protocol: the schema (ackmark.proto), its generated
// types, the identifiers and error codes that both ends share, and the frames
// as they stand on a WebSocket. It is the only room that the server and the
// load generator both know.
//
// Two ways lead to the same bytes. The generated types serve every kind of
// frame and the JSON form; the views ([View], [DeliverView], [PageView] …) and
// the Append functions serve the hot kinds (deliver, ack, send, send_result,
// page, sync) on the same schema without an allocation. Tests hold both ways
// against each other.
//
// The decoders are proto3's with three rules more: a [Frame] has exactly one
// field set and has it once, a known field with the wrong wire type is an
// error instead of an unknown field, and strings are UTF-8 (as in the
// generated code). Unknown fields are skipped.
//
// The room may touch bytes and an io.Reader that is handed to it. It must not
// open sockets, start goroutines, read clocks, log, or know any other room.
//
// To regenerate the types: protoc 3.21 (any later one works, its version is
// noted in the output); protoc-gen-go is built from the version of
// google.golang.org/protobuf in go.mod, so plugin and runtime always match.
package wire

//go:generate go build -o .gen/protoc-gen-go google.golang.org/protobuf/cmd/protoc-gen-go
//go:generate protoc --plugin=protoc-gen-go=.gen/protoc-gen-go --go_out=. --go_opt=paths=source_relative ackmark.proto
//go:generate rm -r .gen
