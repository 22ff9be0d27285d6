// Package results is the room of what a measurement says: the result file and
// its JSON Schema, the registry of metrics, the statistics over repeats, the
// verdict with its reasons and exit code, and the tables that people read.
//
// A measurement is built up as follows. The engine fills a [Result] with one
// [Run] per variant and repeat, calls [Judge], which writes the verdict of each
// run, the summary of each variant and the verdict of the whole, writes the
// file with [Write], and prints [NewReport] as text, Markdown or CSV.
//
// The file's format has versions, [Schemas], each with a JSON Schema of its own.
// [Read] takes all of them, Write writes the newest, [EncodeAs] an older one for
// readers that know no newer. A file that somebody kept stays readable for ever.
//
// What is done with results has rooms of its own, which build on this one; it
// imports none of them:
//
//   - stats: intervals and tests, of numbers alone
//   - compare: what differs between measurements, and whether that is chance
//   - gate: may this pass, against a baseline or another build
//   - sweep: a grid of settings, its cheapest points and a recommendation
//   - pair: benchmarks that compare two ways of the same work; needs no result
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
