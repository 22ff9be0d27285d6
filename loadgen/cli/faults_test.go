package cli_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"ackmark/results"
)

// warned returns the warnings of a run as one text.
func warned(run *results.Run) string { return strings.Join(run.Warnings, "\n") }

// agreed fails where a reconciliation is off: what two of us counted differs.
func agreed(t *testing.T, run *results.Run) {
	t.Helper()
	for _, c := range run.Health.Reconciliations {
		if c.Ours != c.Theirs {
			t.Errorf("%s: %v by us, %v by %s", c.What, c.Ours, c.Theirs, c.Other)
		}
	}
}

// TestKillRedis kills Redis twice in mid-run. With a sync before each answer
// nothing that was answered is lost. With one each second nearly nothing is: what
// was written survives the process in the kernel's cache. But while a sync is
// under way Redis answers before it has written, for up to 2 s; a busy disk makes
// that show. What is lost then has to be what Redis has lost, to the message.
func TestKillRedis(t *testing.T) {
	for _, fsync := range []string{"always", "everysec"} {
		t.Run(fsync, func(t *testing.T) {
			o := run(t, short("redis.fsync="+fsync, "faults=[{kind: kill-redis, at: 200ms, down: 150ms, every: 400ms}]", "clients.send.timeout=1s")...)
			r, err := results.Read(o.dir)
			if err != nil {
				t.Fatalf("%v\n%s", err, o.err)
			}
			x := &r.Runs[0]
			kills, gone, lost := killed(x)
			if fsync == "always" && gone+lost > 0 {
				t.Errorf("Redis lost %d messages that it had synced", gone)
			}
			for _, reason := range r.Verdict.Reasons {
				// An ack that was due as Redis went may wait until its conversation is
				// settled again, and share a request then: one less a kill, never more.
				shared := x.Acks.Replayed != nil && *x.Acks.Replayed > x.Acks.Requests && *x.Acks.Replayed-x.Acks.Requests <= int64(kills)
				if reason.Kind != results.ReasonHealth && (reason.Metric != "lost" || lost == 0) && (reason.Kind != results.ReasonReplay || !shared) {
					t.Errorf("verdict %s: %s", r.Verdict.Status, reason)
				}
			}
			a := x.Audit
			if a.Lost != lost || a.ShownTwice+a.OutOfOrder+a.NotShown != 0 || a.Expected != a.Deliveries+a.Pending+a.Lost {
				t.Errorf("audit %+v; nothing may be shown twice, and nothing lost but the %d with the tail", a, lost)
			}
			if kills != 2 {
				t.Errorf("warnings %q; want two kills", x.Warnings)
			}
			agreed(t, x)
		})
	}
}

// killed reads what kills of Redis did: how many there were, how many accepted
// messages they took, and how many deliveries that nobody had yet.
func killed(run *results.Run) (kills int, gone, lost int64) {
	for _, w := range run.Warnings {
		_, _ = fmt.Sscanf(w, "kills of Redis: %d; it lost %d accepted messages, of them %d deliveries", &kills, &gone, &lost)
	}
	return kills, gone, lost
}

// TestTailCut cuts five messages from the tail of what Redis had written. One
// member sends, one is online, ten aren't: of each message that was cut, ten
// deliveries are lost, and an eleventh where Redis died between the answer and
// the push. Nothing else is: what is sent afterwards gets the seqs of those that
// are gone, and arrives all the same (epoch). Where messages had been fanned out,
// rows, bodies and what is remembered of them go together or come again whole.
//
// How many of the five were accepted depends on the machine: one that was cut
// before its sender had its answer is sent again, and not lost.
func TestTailCut(t *testing.T) {
	const cut, offline = 5, 10
	for _, design := range []string{"cursor", "copies", "ids"} {
		t.Run(design, func(t *testing.T) {
			o := run(t, filepath.Join("testdata", "tail.yaml"), "--set", "server.group="+design)
			r, err := results.Read(o.dir)
			if err != nil {
				t.Fatalf("%v\n%s", err, o.err)
			}
			x := &r.Runs[0]
			a := x.Audit
			if a.Sends != 50 || a.Accepted != a.Sends {
				t.Fatalf("%d of %d sends accepted, want 50 of 50\n%s", a.Accepted, a.Sends, warned(x))
			}
			kills, gone, lost := killed(x)
			if kills != 1 || gone > cut {
				t.Errorf("%d kills, %d accepted messages gone; want 1 and at most the %d that were cut\n%s", kills, gone, cut, warned(x))
			}
			if a.Lost != lost || lost < gone*offline || lost > gone*(offline+1) {
				t.Errorf("%d deliveries lost, %d with the tail; want %d messages × %d offline members", a.Lost, lost, gone, offline)
			}
			if late := lost - gone*offline; a.Deliveries != a.Sends-late || a.Pending != (a.Sends-gone)*offline {
				t.Errorf("audit %+v; who is online has all but %d, offline members wait for what isn't lost", a, late)
			}
			if a.ShownTwice+a.OutOfOrder+a.NotShown+a.SeqMismatch != 0 {
				t.Errorf("audit %+v", a)
			}
			agreed(t, x)
			if !strings.Contains(o.err, fmt.Sprintf("cut %d messages", cut)) {
				t.Errorf("stderr doesn't say what was cut:\n%s", o.err)
			}
		})
	}
}

// TestReset breaks half of the connections again and again.
func TestReset(t *testing.T) {
	o := run(t, short("faults=[{kind: reset, at: 100ms, every: 200ms, share: 50%}]", "clients.ack.every=200", "clients.ack.interval=5s")...)
	r := trusted(t, o)
	a := r.Runs[0].Audit
	if a.Lost != 0 || a.ShownTwice != 0 || a.OutOfOrder != 0 || a.Expected != a.Deliveries {
		t.Errorf("audit %+v; nothing may be lost or shown twice", a)
	}
	if a.Redelivered == 0 {
		t.Error("nothing was redelivered, though nothing had been acked when connections broke")
	}
	if !strings.Contains(warned(&r.Runs[0]), "connections reset: 30;") { // 6 of 12, five times
		t.Errorf("warnings %q; want 30 resets", r.Runs[0].Warnings)
	}
	agreed(t, &r.Runs[0])
}

// TestFaultsThatCannotBe: what isn't ours isn't killed.
func TestFaultsThatCannotBe(t *testing.T) {
	for _, args := range [][]string{{"--embedded"}, {"--redis", "redis://127.0.0.1:1"}} {
		o := loadgen(append(append([]string{"run"}, short("faults=[{kind: kill-redis, at: 200ms, down: 100ms}]")...), args...)...)
		if o.code != 2 || !strings.Contains(o.err, "needs a Redis of the run's own") {
			t.Errorf("%v: exit %d, %q; want 2, and why", args, o.code, o.err)
		}
	}
}

// TestKilledInFanout kills the server while it writes rows to many inboxes,
// three times. Resend or recovery finishes what it had begun: every message that
// was answered has one row, or has arrived once, at each recipient.
func TestKilledInFanout(t *testing.T) {
	for _, design := range []string{"copies", "ids"} {
		t.Run(design, func(t *testing.T) {
			o := run(t, short("server.group="+design, "population.users=200", "population.groups.members=200", "clients.online=10%",
				"clients.send.timeout=500ms", "clients.send.retries=20", "clients.ack.policy=each", "phases.measure=1200ms",
				"faults=[{kind: kill-server, at: 200ms, down: 100ms, every: 400ms}]")...)
			r := trusted(t, o)
			x := &r.Runs[0]
			a := x.Audit
			if a.Lost+a.ShownTwice+a.OutOfOrder+a.NotShown+a.SeqMismatch != 0 || a.Expected != a.Deliveries+a.Pending || a.Pending == 0 {
				t.Errorf("audit %+v; each message is to wait for 180 members and to have arrived at the others", a)
			}
			var half, of int
			for _, w := range x.Warnings {
				_, _ = fmt.Sscanf(w, "kills of the server with a fan-out half-way: %d of %d", &half, &of)
			}
			if of != 3 || half == 0 {
				t.Errorf("%d of %d kills fell into a fan-out, want 3 kills and some that did\n%s", half, of, warned(x))
			}
			agreed(t, x)
		})
	}
}
