// Package stats holds the statistics that gates, comparisons and sweeps share:
// bootstrap intervals, the sign-flip test of paired measurements, Holm's
// correction for several metrics, and the spending of error over several looks.
//
// It knows numbers only: no results, no metrics, no clock, and no randomness
// but what is passed in, so that the same measurements always give the same
// answer.
package stats
