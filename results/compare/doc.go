// Package compare holds measurements against each other: sides, each the runs
// of one or more results, metric by metric against the first side.
//
// One run is one sample (measuring.md, 23). Timings are compared by medians,
// their intervals and the Mann-Whitney U test, which assume nothing of the
// distribution, with Holm's correction for looking at several; counts are
// determined by profile and seed, so the runs of one seed are held against each
// other, and differ or don't. Copies of a result are no further samples, and
// results of different settings are no samples of one thing. Nothing is concluded
// from what is left of a side after some of its runs, or their figures, fell
// away: what fell away is seldom chance. A comparison judges
// nothing: it has no tolerances, and only package gate passes or fails.
//
// The package is pure: it reads no files, has no clock, and the same results
// always give the same comparison. It may use results, results/stats and the
// statistics of golang.org/x/perf; it must not use the load generator.
package compare
