// Package measure turns what happens during a run into figures: latency
// histograms, per-second series, CPU and memory of processes, the counters of
// Redis and of the server, and the generator's own health.
//
// Rules it follows (each is a test here):
//
//   - A latency is bucketed by its intended time, throughput by its completion
//     time. Only samples intended inside [MeasureStart, MeasureEnd) are in a
//     histogram; warm-up and later samples are counted beside it.
//   - Histograms hold microseconds with three digits up to 24 h. What doesn't
//     fit is counted, never clamped. Merging loses nothing; percentiles are
//     never averaged.
//   - No data is null. A percentile whose rank falls among the samples past
//     24 h is null too, since nobody knows it.
//   - Memory grows with the number of seconds and of histograms in use, never
//     with the number of samples.
//   - A counter that went back belongs to a restarted process: its new value
//     is added, not subtracted.
//
// It may read procfs, speak INFO to Redis and scrape an HTTP page of metrics.
// It starts no processes (package launch does), draws nothing (package results
// does), and has no clock of its own: times are durations since the run's
// start and are passed in. The one exception is Scrape and ReadRedis, which
// wait on a network and take a context.
package measure
