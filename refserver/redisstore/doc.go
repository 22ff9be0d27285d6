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
// # An inbox
//
// A direct message whose receiver is live gets a seq and leaves no row (XADD and
// XDEL in one script), and the send is noted with a digest of its record, by
// which a second attempt still tells itself from a client's resend. Whoever
// finds that the push missed its receiver has it stored under a seq of its own.
//
// Where messages go as they are pulled, one script reads a part and removes
// exactly that, index included. Such a command isn't idempotent, so it is the
// only one that is not issued again once it may have run: repeated, it would
// return the next part and hide that one is lost.
//
// # Rows of members
//
// In the designs copies and ids a send is given its seq by a script at its group,
// which also notes it as being stored, and then a row is written by a script at
// each recipient, all of them in one pipeline (fanout.go has the steps). Rows lie
// in a sorted set per user, in the order of their bytes, so that a group's rows
// are read and removed by range. Each user keeps the last seq that was written for
// it of each group, with its epoch: fan-outs of a group come in the order of its
// seqs, so this alone makes a row be written once, however often and by whom it is
// tried, and also when it was pulled in between. What a killed server leaves
// half-way is still noted at the group; whoever opens the group, or sends to it,
// finishes it first (recover.go). Opening also finishes what is on its way in the
// same process: the head that it returns has all its rows. A send that was
// finished so while its own first answer was lost is answered as a duplicate.
//
// A body of the design ids goes with its last id. Ids and bodies lie in different
// slots, so the ids left are counted, and a count is brought down after the id has
// gone and never twice: it may be too high after a crash, never too low.
// Recovering a group counts anew what its members have. It begins a generation of
// counts before it reads and another one after it, and whoever counts off names
// the generation in which it removed the id; so a straggler changes nothing.
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
// The first script of an epoch that touches a conversation notes three things in
// its meta: the epoch, its base (the head that it found), and former, the epoch
// that was noted before. What a client holds of former is worth min(its
// watermark, base). Of an older epoch base says nothing: former may have begun
// further back, and filled the seqs up to base with other messages. So what such
// a client holds, or one of an epoch that was never noted here, counts for
// nothing, and it goes on from its stored cursor, which was lost and kept along
// with the messages that it is about. An epoch in which nothing touched the
// conversation isn't noted, nor is one whose note was lost with the tail: nothing
// that was stored in it is left, so base is right for the one before it. A login
// is a script as well, so that it is never answered in an epoch that is over.
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
//
//   - Gatherers: 1 takes 250 sends per round trip, 2 take 75–140, 4 take 40–55;
//     throughput is the same, since Redis is what is full (13 µs a send, 15–16
//     with 2 or 4), so the default is 1.
//
//   - In the script, helper functions were a fifth of the cost while Lua built
//     all of them on each call (24 → 20 µs): they are included where they are
//     needed, inside the rare branches.
//
//   - Idempotent sends: one hash per conversation and time bucket, 75–84 bytes a
//     message and 1 µs to store; one key per message is 88 bytes and more (it
//     needs an expiry of its own) and 6 µs. Below 512 fields a hash is a listpack
//     and a look-up in it 15 µs, 1.8 µs in a hash table, so the bucket's
//     marking field is too long for a listpack. Small groups pay for it with some
//     hundred bytes per bucket, for the time of 2.5 buckets.
//
//   - The head of a log is XREVRANGE COUNT 1 (4–5 µs), not XINFO (8–9 µs): trimming
//     keeps the newest entry. Of an inbox the newest may be gone while older ones
//     wait (acked by id, pulled, or pushed without a row), so only XINFO knows. This
//     works on miniredis 2.40 as well, whose XINFO knows last-generated-id.
//
//   - An inbox is a stream: 276 bytes a message of 230, from ten on no more than
//     a sorted set, at a third to a quarter of its cost. With a single message it
//     is 4.7 KB (sorted set 1.2 KB), emptied 0.4 KB.
//
//   - The index of senders adds 36–43 bytes a message up to 128 messages (listpack),
//     118–129 above (skiplist), names of 11 bytes. Counting an inbox by it costs
//     2 µs a message.
//
//   - Copies are members of a sorted set (memory_test.go, records of 230 bytes in
//     ten groups by turns): 493 bytes each among 10, 415 among 100, 406 among 1000. In
//     a stream with an index by group they take 509, 342 and 394, but pulling
//     one group of the ten leaves holes in every node of the stream and frees
//     nothing of it, where the sorted set frees 390–400 bytes a copy at once.
//
//   - An id is 31–37 bytes up to 128 of them (listpack), 118 above (skiplist).
//
//   - A message to a group of 500 takes 499 rows and 199 KB as copies, a body and
//     499 ids in 18 KB, one row of 0.5 KB with cursors (20 messages of 200 bytes
//     waiting, sorted sets that small still being listpacks of ids).
//
// The clocks of servers on one Redis have to agree within a fraction of
// DedupFor, since they name the buckets. So DedupFor is noted in a namespace, as
// are its design and the sender index, and another one is refused (design.go says
// what may change between restarts).
//
// The room may touch Redis and the clock it is given. It must not know
// connections of clients, or what a design does with messages.
package redisstore
