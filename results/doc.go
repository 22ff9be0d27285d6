// Package results is the room of what a measurement says: the result file and
// its JSON Schema, the registry of metrics, the statistics over repeats, the
// verdict with its reasons and exit code, and the tables that people read.
//
// A measurement is built up as follows. The engine fills a [Result] with one
// [Run] per variant and repeat, calls [Judge], which writes the verdict of each
// run, the summary of each variant and the verdict of the whole, writes the
// file with [Write], and prints [NewReport] as text, Markdown or CSV.
//
// The room is pure: it opens no sockets, starts no processes, and asks no clock
// for the time; times come in with the Result. It touches the disk in file.go
// (the result file) and in collect.go (/proc and /etc/os-release) only. It may
// import package profiles and nothing else of Ackmark.
//
// Units: durations in histograms are microseconds (unit "us"), times within a
// run are milliseconds since the run's start, CPU costs are CPU microseconds of
// the named process per delivery, sizes are bytes. A number that is not known
// is null in JSON and nil in Go; it is never 0.
package results
