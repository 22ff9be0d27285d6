package engine

import (
	"fmt"
	"strings"
	"testing"

	"ackmark/loadgen/ledger"
	"ackmark/loadgen/population"
	"ackmark/profiles"
)

// TestReconcileRows: what a store of ids must not look like, one by one.
func TestReconcileRows(t *testing.T) {
	whole := func() *account {
		return &account{
			held: map[int]holding{0: {left: runs{{2, 3}, {5, 5}}}},
			rows: waiting{of: map[int]map[string]runs{0: {"g:a": {{2, 3}}}, 1: {"g:a": {{3, 3}, {5, 5}}}, 2: {}}},
		}
	}
	for _, tt := range []struct {
		name  string
		spoil func(a *account, r *run)
		wrong string // the reconciliations that are off
	}{
		{"as it should be", func(*account, *run) {}, ""},
		{"a row twice", func(a *account, _ *run) { a.rows.doubled = 1 }, "rows that are in an inbox twice"},
		{"a body went early", func(a *account, _ *run) { a.held[0] = holding{left: runs{{2, 3}}} }, "ids without a body"},
		{"a body that nobody needs", func(a *account, _ *run) { a.held[0] = holding{left: runs{{2, 5}}} }, "bodies that somebody's id names"},
		{"the same, after a kill: it may go late", func(a *account, r *run) {
			a.held[0] = holding{left: runs{{2, 5}}}
			r.damage.serverKills = 1
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &run{profile: &profiles.Profile{}, pop: &population.Population{Groups: []population.Group{{ID: "a", Members: []int{0, 1, 2}}}}}
			r.profile.Server.Group = profiles.GroupIDs
			a := whole()
			tt.spoil(a, r)
			r.reconcileRows(a)
			if got := off(r); got != tt.wrong {
				t.Errorf("off: %q, want %q", got, tt.wrong)
			}
		})
	}
}

// off names the reconciliations that don't agree.
func off(r *run) string {
	var names []string
	for _, c := range r.out.Health.Reconciliations {
		if c.Ours != c.Theirs {
			names = append(names, c.What+" ("+c.Other+")")
		}
	}
	text := strings.Join(names, ", ")
	for _, other := range []string{" (Redis)", " (Redis XLEN)"} {
		text = strings.ReplaceAll(text, other, "")
	}
	return text
}

// TestReconcileCrashes: where pulls remove, what crashes took is what is lost.
func TestReconcileCrashes(t *testing.T) {
	onPull := profiles.Profile{Server: profiles.Server{Remove: profiles.RemoveOnPull}, Clients: profiles.Clients{Crash: profiles.Crash{Between: profiles.CrashPullAndAck}}}
	for _, tt := range []struct {
		name   string
		change func(p *profiles.Profile, r *run)
		report ledger.Report
		wrong  string
	}{
		{"all of it, and nothing else", nil, ledger.Report{Dropped: 30, LostDropped: 30, Lost: 30}, ""},
		{"one came again", nil, ledger.Report{Dropped: 30, LostDropped: 29, Lost: 29}, "deliveries that crashes took (lost, of these), deliveries that crashes took (lost, all)"},
		{"one more was lost", nil, ledger.Report{Dropped: 30, LostDropped: 30, Lost: 31}, "deliveries that crashes took (lost, all)"},
		{"one more, of the live ones", func(p *profiles.Profile, _ *run) { p.Traffic.Group = &profiles.Flow{} },
			ledger.Report{Dropped: 30, LostDropped: 30, Lost: 31}, ""},
		{"a fault may bring back what was removed", func(_ *profiles.Profile, r *run) { r.damage.redisKills = 1 },
			ledger.Report{Dropped: 30, LostDropped: 10, Lost: 10}, ""},
		{"where acks remove, it comes again", func(p *profiles.Profile, _ *run) { p.Server.Remove = profiles.RemoveOnAck }, ledger.Report{Dropped: 30}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := onPull
			r := &run{profile: &p}
			if tt.change != nil {
				tt.change(&p, r)
			}
			r.reconcileCrashes(&account{report: tt.report})
			if got := off(r); got != tt.wrong {
				t.Errorf("off: %q, want %q", got, tt.wrong)
			}
		})
	}
}

// TestUnderWay: what connections that were ended explain, and what they don't.
func TestUnderWay(t *testing.T) {
	for _, tt := range []struct {
		name         string
		resets       int
		ours, theirs float64
		sign         float64
		want         float64
	}{
		{"nothing ended", 0, 10, 12, +1, 10},
		{"the server had sent more", 3, 10, 12, +1, 12},
		{"devices got more than was sent", 3, 12, 10, +1, 12},
		{"devices had acked more", 3, 12, 10, -1, 10},
		{"the server got more acks than were sent", 3, 10, 12, -1, 10},
	} {
		r := &run{profile: &profiles.Profile{}, damage: damage{resets: tt.resets}}
		if got := r.underWay(tt.ours, tt.theirs, tt.sign); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestAnswered: a send that the server gave up may have been stored; then its
// resend is a duplicate.
func TestAnswered(t *testing.T) {
	for _, tt := range []struct {
		ours, failed, duplicate float64
		want                    float64
	}{{10, 0, 0, 10}, {13, 3, 5, 10}, {13, 2, 5, 13}, {13, 5, 2, 13}, {9, 3, 3, 9}} {
		a := &account{page: pageOf(t, fmt.Sprintf("ackmark_sends_total{result=\"failed\"} %g\nackmark_sends_total{result=\"duplicate\"} %g\n", tt.failed, tt.duplicate))}
		if got := (&run{}).answered(a, tt.ours, 10); got != tt.want {
			t.Errorf("%v accepted, 10 stored, %v given up, %v duplicates: %v, want %v", tt.ours, tt.failed, tt.duplicate, got, tt.want)
		}
	}
	// Redis died while rows were written.
	for duplicate, want := range map[float64]float64{3: 10, 2: 13} {
		for _, design := range []string{profiles.GroupIDs, profiles.GroupCursor} {
			a := &account{page: pageOf(t, fmt.Sprintf("ackmark_sends_total{result=\"duplicate\"} %g\n", duplicate))}
			r := &run{damage: damage{redisKills: 1}, store: &store{design: profiles.Server{Group: design}}}
			if design == profiles.GroupCursor {
				want = 13
			}
			if got := r.answered(a, 13, 10); got != want {
				t.Errorf("%s: %v duplicates after a kill: %v, want %v", design, duplicate, got, want)
			}
		}
	}
}

// TestReconcileTails: what is lost is what Redis has lost, where that is all that
// can be lost.
func TestReconcileTails(t *testing.T) {
	cut := []lostTail{{messages: []lostMessage{{"g:a", 1}}}}
	for _, tt := range []struct {
		name   string
		damage damage
		fsync  string
		server profiles.Server
		lost   int
		wrong  bool
	}{
		{"as much", damage{redisKills: 1}, profiles.FsyncEverysec, profiles.Server{}, 4, false},
		{"one more", damage{redisKills: 1}, profiles.FsyncEverysec, profiles.Server{}, 5, true},
		{"one more, and a tail was cut", damage{redisKills: 1, tails: cut}, profiles.FsyncAlways, profiles.Server{}, 5, true},
		{"a kill that may lose nothing", damage{redisKills: 1}, profiles.FsyncAlways, profiles.Server{}, 5, false}, // lost == 0 is asked for
		{"no kill", damage{}, profiles.FsyncEverysec, profiles.Server{}, 5, false},
		{"pulls remove", damage{redisKills: 1}, profiles.FsyncEverysec, profiles.Server{Remove: profiles.RemoveOnPull}, 5, false},
		{"pushes aren't stored", damage{redisKills: 1}, profiles.FsyncEverysec, profiles.Server{StoreFor: profiles.StoreForOffline}, 5, false},
		{"times pass over", damage{redisKills: 1}, profiles.FsyncEverysec, profiles.Server{Cursor: profiles.CursorTimeAfter}, 5, false},
	} {
		r := &run{profile: &profiles.Profile{Server: tt.server, Redis: profiles.Redis{Fsync: tt.fsync}}, damage: tt.damage}
		r.reconcileTails(&account{report: ledger.Report{Lost: tt.lost, LostWithTail: 4}})
		if got := off(r); (got != "") != tt.wrong {
			t.Errorf("%s: off %q, want off %v", tt.name, got, tt.wrong)
		}
	}
}

// TestReconcileStore: heads against accepted sends, with what was cut and with
// second seqs of direct messages.
func TestReconcileStore(t *testing.T) {
	for _, tt := range []struct {
		name     string
		accepted int
		unknown  int
		cut      int
		stored   uint64
		missed   string
		wrong    bool
	}{
		{"as many", 10, 0, 0, 10, "", false},
		{"one too few", 10, 0, 0, 9, "", true},
		{"one too many", 10, 0, 0, 11, "", true},
		{"one that nobody knows of", 10, 1, 0, 11, "", false},
		{"three were cut", 10, 0, 3, 7, "", false},
		{"three were cut, and one more is missing", 10, 0, 3, 6, "", true},
		{"a push missed its receiver", 10, 0, 0, 11, "ackmark_pushes_missed_total 1\n", false},
	} {
		p := &profiles.Profile{Server: profiles.Server{Group: profiles.GroupCopies, Dedup: profiles.On}}
		r := &run{profile: p, store: &store{}}
		a := &account{page: pageOf(t, tt.missed), stored: tt.stored, report: ledger.Report{Accepted: tt.accepted, Unknown: tt.unknown, CutAccepted: tt.cut}}
		r.reconcileStore(a)
		if got := off(r); (got != "") != tt.wrong {
			t.Errorf("%s: off %q, want off %v", tt.name, got, tt.wrong)
		}
	}
}
