// Package redisstore makes messages durable: keys, scripts and pipelines on
// Redis. It is the only room that speaks to Redis, and implements
// delivery.Store. Keys are listed in keys.go, each script is a file of its own
// below scripts/ with its keys and arguments on top.
//
// # A send
//
// [Store.Append] puts a send into a bounded queue. A gatherer takes all that
// waits into one pipeline: one EVALSHA per send, one round trip per moment. The
// script checks membership, looks the send up among those stored before, adds
// it to the log (XADD 0-*, so Redis itself hands out contiguous seqs), and fills
// the sender's own gap; all or nothing. What has no answer when the connection
// drops may have run, so it is sent again until its deadline and the script
// finds out. A send that was stored by its own lost attempt is told from a
// client's resend by its record (time included): the first is answered as new,
// since nobody has heard of it yet.
//
// # Epochs
//
// A Redis that lost its tail hands out the same seqs again, for other messages.
// Every script that speaks of seqs holds the epoch in its text, so its SHA
// belongs to one epoch; and Redis 7 keeps scripts only in the memory of the
// process that loaded them. So a process that restarted or took over answers
// NOSCRIPT to every server, however late that one notices, and nothing of the
// old history can touch the new one. On NOSCRIPT the store opens one connection
// that is never dialled again, asks the process for its epoch (a script that
// compares the process's run_id with the one noted, and begins a new epoch when
// it differs), loads the scripts, tells the sink, and tries again what was
// refused. SCRIPT FLUSH shows the same run_id: same epoch, scripts loaded again.
// A new epoch's number is at least the clock in milliseconds, so it isn't given
// out twice even when its own note is lost. Answers of the old epoch may reach
// the sink after EpochChanged; they carry their epoch.
//
// The limits: FLUSHALL, or PurgeNamespace, under a running server loses the
// data of a process that lives on, so its servers have to be restarted; and a
// primary that was demoted and promoted again without a restart would still
// know the scripts of its former epoch to a server that noticed neither change.
//
// # What was measured, and chosen
//
// On 2 shared cores, Redis 7.0.15 on a Unix socket; ratios count (bench_test.go
// and perf_test.go, medians):
//
//   - The send path costs 5.9 µs of client CPU and 8 allocations; a bare coalescing
//     client with the same script 7.1 µs and 20 (ratio 0.83); go-redis's
//     AutoPipeline 11.2 µs (1.9), and it bounds neither time nor repetition.
//   - Gatherers: 1 takes 250 sends per round trip, 2 take 75–140, 4 take 40–55;
//     throughput is the same, since Redis is what is full (13 µs a send, 15–16
//     with 2 or 4), so the default is 1.
//   - In the script, helper functions were a fifth of the cost while Lua built
//     all of them on each call (24 → 20 µs): they are included where they are
//     needed, inside the rare branches.
//   - Idempotent sends: one hash per conversation and time bucket, 75–84 bytes a
//     message and 1 µs to store; one key per message is 88 bytes and more (it
//     needs an expiry of its own) and 6 µs. Below 512 fields a hash is a listpack
//     and a look-up in it 15 µs, 1.8 µs in a hash table, so the bucket's
//     marking field is too long for a listpack. Small groups pay for it with some
//     hundred bytes per bucket, for the time of 2.5 buckets.
//   - The head is XREVRANGE COUNT 1 (4–5 µs), not XINFO (8–9 µs), which serves
//     empty inboxes. Trimming keeps the newest entry of a group's log. This
//     works on miniredis 2.40 as well, whose XINFO knows last-generated-id.
//   - An inbox is a stream: 276 bytes a message of 230, from ten on no more than
//     a sorted set, at a third to a quarter of its cost. With a single message it
//     is 4.7 KB (sorted set 1.2 KB), emptied 0.4 KB.
//
// The clocks of servers on one Redis have to agree within a fraction of
// DedupFor, since they name the buckets.
//
// The room may touch Redis and the clock it is given. It must not know
// connections of clients, or what a design does with messages.
package redisstore
