// Package schedule says when things happen: every send and login of a run on
// one absolute timeline, known before the run begins, so that latency counts
// from the intended time and a late generator can't hide; and what waits in the
// store before it.
//
// It is pure: the same profile, population and seed give the same events, to
// the nanosecond. It has no clock and no sockets; the engine keeps the time.
// It may import profiles and population and nothing else of ours.
package schedule
