// Package selftest holds the generator against a server whose behaviour is
// known: it runs the same engine as every measurement against the stub
// (package stub) and compares what it reports with what the stub says it caused.
//
// The stub is a child process, so that neither shares the other's scheduler,
// and the generator uses it as it would a foreign server: nothing of it is
// known but what came over the wire. Delays are tens of milliseconds, so that
// loopback's own cost lies inside the tolerance of 1 %.
//
// Three outcomes: everything as it should be; the generator reported something
// wrong; or the machine was too busy to tell. Counts must be exact whatever the
// machine does, so they are never excused. Times are: a figure that is off is
// measured again, some times, since a bias shows in each attempt and a pause of
// the machine doesn't; when it stays off, it is wrong unless in nearly every
// attempt the generator's own health, or the stub's, says that there was no core
// to be on time with. Choosing the attempt that was disturbed least hides no
// bias: what disturbs only ever adds.
//
// The room may use engine, launch, profiles and results. It knows the stub by
// its command line and its JSON only, and prints nothing.
package selftest
