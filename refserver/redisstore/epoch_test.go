package redisstore

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"ackmark/refserver/delivery"
	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

// A store that lost its tail hands out the same seqs again. Nothing of the old
// history may touch them.
func TestTailCut(t *testing.T) {
	r := redistest.Start(t, redistest.AOF("always"))
	f := startStore(t, Config{URL: r.URL(), DedupFor: time.Hour})
	g := f.group("g", "alice", "bob")
	for i := range 10 {
		f.sent(g, "alice", fmt.Sprint(i))
	}
	old := f.Epoch()
	if l := f.open(g); l.Base != 0 || l.Head != 10 {
		t.Fatalf("%+v", l)
	}

	r.Kill()
	if n := r.CutAOF(4); n != 4 {
		t.Fatalf("%d entries cut", n)
	}
	r.Restart()

	// A late server, still in the old epoch: its requests change nothing.
	wantCode(t, f.Move(f.ctx, g, old, []delivery.Move{{User: "bob", UpTo: 9}}), wire.CodeUnavailable)
	if f.Epoch() <= old {
		t.Fatalf("epoch %d after %d", f.Epoch(), old)
	}
	_, err := f.Read(f.ctx, g, old, 0, 10)
	wantCode(t, err, wire.CodeUnavailable)
	_, err = f.Trim(f.ctx, g, old, 1)
	wantCode(t, err, wire.CodeUnavailable)
	wantCode(t, f.remove("u:bob", old, 9, nil), wire.CodeUnavailable)
	if c := f.cursor(g, "bob"); c != 0 {
		t.Fatalf("an old ack moved the cursor to %d", c)
	}

	// New sends get through, under the new epoch, on seqs that were given out before.
	a := f.send(g, "alice", "new")
	if a.Err != nil || a.Seq != 7 || a.Epoch != f.Epoch() {
		t.Fatalf("%+v, want seq 7 in epoch %d", a, f.Epoch())
	}
	if l := f.open(g); l.Base != 6 || l.Head != 7 || l.Epoch != f.Epoch() {
		t.Fatalf("%+v, want base 6, head 7", l)
	}
	// A resend of what survived is known, of what was lost is stored.
	if a := f.send(g, "alice", "5"); a.Seq != 6 || !a.Duplicate {
		t.Fatalf("resend of what survived: %+v", a)
	}
	if a := f.send(g, "alice", "6"); a.Seq != 8 || a.Duplicate {
		t.Fatalf("resend of what was lost: %+v", a)
	}
	if got := f.sink.changes(); !reflect.DeepEqual(got, []uint64{f.Epoch()}) {
		t.Fatalf("changes %v, want one to %d", got, f.Epoch())
	}
	if n := f.Stats().EpochChanges; n != 1 {
		t.Fatalf("%d epoch changes counted", n)
	}
}

// The first to touch a conversation in the new epoch may be a send: base is
// the head before it.
func TestBaseBeforeFirstSend(t *testing.T) {
	r := redistest.Start(t, redistest.AOF("always"))
	f := startStore(t, Config{URL: r.URL(), DedupFor: time.Hour})
	g := f.group("g", "alice")
	f.must(f.CreateUsers(f.ctx, []string{"bob"}))
	for i := range 3 {
		f.sent(g, "alice", fmt.Sprint(i))
		f.sent("u:bob", "alice", fmt.Sprint(i))
	}
	f.must(f.remove("u:bob", f.Epoch(), 3, nil)) // an empty stream survives a restart
	r.Kill()
	r.Restart()
	for _, conversation := range []string{g, "u:bob"} {
		if seq := f.sent(conversation, "alice", "new"); seq != 4 {
			t.Fatalf("%s: seq %d, want 4", conversation, seq)
		}
		if l := f.open(conversation); l.Base != 3 || l.Head != 4 {
			t.Fatalf("%s: %+v, want base 3", conversation, l)
		}
	}
}

// A Redis that comes back empty is a new epoch as well.
func TestEmptyAfterRestart(t *testing.T) {
	r := redistest.Start(t)
	f := startStore(t, Config{URL: r.URL(), DedupFor: time.Hour})
	g := f.group("g", "alice")
	f.sent(g, "alice", "1")
	old := f.Epoch()
	r.Kill()
	r.Restart()
	wantCode(t, f.send(g, "alice", "2").Err, wire.CodeNoSuchGroup)
	if f.Epoch() <= old {
		t.Fatalf("epoch %d after %d: a number must not come twice", f.Epoch(), old)
	}
}

// SCRIPT FLUSH loses nothing: the scripts are loaded again, in the same epoch.
func TestScriptFlush(t *testing.T) {
	r := redistest.Start(t)
	f := startStore(t, Config{URL: r.URL(), DedupFor: time.Hour})
	g := f.group("g", "alice", "bob")
	f.sent(g, "alice", "1")
	epoch := f.Epoch()
	for i, op := range []func(){
		func() { f.sent(g, "alice", "2") },
		func() { f.move(g, "bob", 2) },
		func() { f.seqs(g) },
		func() {
			if got, err := f.Login(f.ctx, "bob"); err != nil || len(got.Groups) != 1 || got.Groups[0].Cursor != 2 {
				t.Fatalf("%v, %v", got, err)
			}
		},
	} {
		f.must(r.Client().ScriptFlush(f.ctx).Err())
		retries := f.Stats().Retries
		op()
		if f.Stats().Retries == retries {
			t.Fatalf("operation %d met no flushed scripts", i)
		}
	}
	if f.Epoch() != epoch || len(f.sink.changes()) != 0 {
		t.Fatalf("epoch %d, changes %v; want none", f.Epoch(), f.sink.changes())
	}
}

// Several servers on one Redis agree on the epoch, however late one notices.
func TestTwoServers(t *testing.T) {
	r := redistest.Start(t, redistest.AOF("always"))
	cfg := Config{URL: r.URL(), DedupFor: time.Hour}
	a, b := startStore(t, cfg), startStore(t, cfg)
	g := a.group("g", "alice", "bob")
	a.sent(g, "alice", "1")
	a.sent(g, "alice", "2")
	old := a.Epoch()
	if b.Epoch() != old {
		t.Fatalf("epochs %d and %d", old, b.Epoch())
	}
	r.Kill()
	r.CutAOF(1)
	r.Restart()
	if seq := a.sent(g, "alice", "new"); seq != 2 {
		t.Fatalf("seq %d, want 2 again", seq)
	}
	// b hasn't noticed, and acks the old 2, which bob got from the lost history.
	wantCode(t, b.Move(b.ctx, g, old, []delivery.Move{{User: "bob", UpTo: 2}}), wire.CodeUnavailable)
	if c := a.cursor(g, "bob"); c != 0 {
		t.Fatalf("an ack of the lost history moved the cursor to %d", c)
	}
	if a.Epoch() != b.Epoch() || a.Epoch() <= old {
		t.Fatalf("epochs %d and %d after %d", a.Epoch(), b.Epoch(), old)
	}
	if l := b.open(g); l.Base != 1 {
		t.Fatalf("%+v, want base 1", l)
	}
	// And a third, started later, joins the epoch.
	if c := startStore(t, cfg); c.Epoch() != a.Epoch() {
		t.Fatalf("a new server begins epoch %d, want %d", c.Epoch(), a.Epoch())
	}
	if a.sink.changes()[0] != b.sink.changes()[0] {
		t.Fatalf("changes %v and %v", a.sink.changes(), b.sink.changes())
	}
}

// An epoch's number isn't given out again when its own note was lost.
func TestEpochNeverAgain(t *testing.T) {
	r := redistest.Start(t, redistest.AOF("always"))
	f := startStore(t, Config{URL: r.URL(), DedupFor: time.Hour})
	f.group("g", "alice")
	seen := map[uint64]bool{f.Epoch(): true}
	for range 3 {
		r.Kill()
		r.CutAOF(1 << 20) // all of it
		r.Restart()
		_, err := f.Open(f.ctx, "g:g")
		wantCode(t, err, wire.CodeNoSuchGroup)
		if seen[f.Epoch()] {
			t.Fatalf("epoch %d came twice", f.Epoch())
		}
		seen[f.Epoch()] = true
	}
}

// The scripts of two epochs have no SHA in common.
func TestScriptsNameTheirEpoch(t *testing.T) {
	a, err := newScriptSet(1, Config{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := newScriptSet(2, Config{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for s := range scriptCount {
		if seen[a.sha[s]] || seen[b.sha[s]] || a.sha[s] == b.sha[s] {
			t.Fatalf("script %d isn't bound to its epoch", s)
		}
		seen[a.sha[s]], seen[b.sha[s]] = true, true
	}
}
