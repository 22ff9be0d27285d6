// Package cli is the command line of loadgen, a file per command.
//
// Run takes arguments and streams and returns an exit code, so the whole
// program can be run inside a test. What it prints follows three rules: results
// go to stdout, everything else (progress, warnings, errors) to stderr; with
// --json stdout holds the result and nothing else; an output that can't be
// written never turns into exit code 0.
//
// The room may read profiles, write result files, and call the engine. It
// measures nothing itself and knows nothing of the reference server: whoever
// calls Run hands it the server's own command line.
package cli
