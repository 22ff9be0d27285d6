// Package gate decides whether a measurement may pass: against a baseline file,
// or against another build measured beside it in interleaved pairs.
//
// It is pure: files of baselines are read and written, everything else comes in
// as results. It knows package results and its statistics, nothing else of
// Ackmark.
//
// Rules (measuring.md, 24–29): invariants have no tolerance and no statistics;
// counts that profile and seed determine are held within 1–2 %, repeat by repeat
// or pair by pair, since a median hides a minority; timings are held only against
// the same machine, Go, Redis, profile and seed, and decided by an interval, not by
// a number. What is missing, empty or not to be trusted is invalid and never a pass;
// what a file says of its own figures isn't trusted.
package gate
