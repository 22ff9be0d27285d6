package delivery

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

func fill(t testing.TB, r *rig, sender, to string, n int) {
	t.Helper()
	for i := range n {
		if _, err := r.Send(t.Context(), sender, &wire.Send{To: to, ClientMsgId: fmt.Sprintf("f%d", i), Body: "body"}); err != nil {
			t.Fatal(err)
		}
	}
}

// 500 members with the same backlog ask at the same moment, after a restart
// of the server: each part of the log is read once.
func TestLogIsReadOncePerGroupNotPerMember(t *testing.T) {
	const backlog, members = 300, 500
	before := newRig(t, Config{}, push.Config{})
	mustAdd(t, before, "1", append(users(members), "sender")...)
	fill(t, before, "sender", "g:1", backlog)
	if err := before.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, Config{}, push.Config{}) // nothing in memory
	r.store.logs, r.store.groups = before.store.logs, before.store.groups

	var wg sync.WaitGroup
	for _, u := range users(members) {
		d := r.connect(t, u)
		wg.Go(func() {
			d.welcome("g:1")
			after, got := uint64(0), 0
			for {
				p := d.pull("g:1", 1, after, 100)
				got += len(p.Messages)
				after = p.UpTo
				if !p.More {
					break
				}
			}
			if got != backlog {
				t.Errorf("%d messages, want %d", got, backlog)
			}
		})
	}
	wg.Wait()
	if reads, want := r.store.count("read"), (backlog+chunkMessages-1)/chunkMessages; reads != want {
		t.Errorf("log read %d times for %d members, want %d", reads, members, want)
	}
}

// The newest messages are in memory: members that fall behind while online
// cost no read at all.
func TestFallingBehindReadsNothing(t *testing.T) {
	r := newRig(t, Config{}, push.Config{Window: 5})
	mustAdd(t, r, "1", append(users(50), "sender")...)
	var all []*device
	for _, u := range users(50) {
		d := r.connect(t, u)
		d.welcome("g:1")
		all = append(all, d)
	}
	fill(t, r, "sender", "g:1", 200)
	for _, d := range all {
		for seq := uint64(1); seq <= 5; seq++ {
			d.deliver(seq)
		}
		if f := d.next(); f.PullNow == nil {
			t.Fatalf("got %v, want pull-now", f)
		}
		if p := d.pull("g:1", 1, 5, 500); len(p.Messages) != 195 || p.More {
			t.Fatalf("page with %d messages", len(p.Messages))
		}
	}
	if n := r.store.count("read"); n != 0 {
		t.Errorf("%d reads of the log", n)
	}
}

// Messages that are stored between login, backlog and live arrive once each
// and in order (skycoin/skywire#2630).
func TestNothingFallsBetweenBacklogAndLive(t *testing.T) {
	r := newRig(t, Config{}, push.Config{})
	mustAdd(t, r, "1", "a", "b")
	fill(t, r, "a", "g:1", 100)
	const live = 300
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range live {
			if _, err := r.Send(context.Background(), "a", &wire.Send{To: "g:1", ClientMsgId: fmt.Sprintf("l%d", i)}); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	b := r.connect(t, "b")
	c := b.welcome("g:1")
	at := c.Cursor
	ask := func() {
		b.handle(&wire.Frame{PageRequest: &wire.PageRequest{Conversation: "g:1", Epoch: 1, After: at, Limit: 7}})
	}
	take := func(seq uint64) {
		if seq != at+1 {
			t.Fatalf("got %d after %d", seq, at)
		}
		at = seq
	}
	ask()
	for at < 100+live {
		switch f := b.next(); {
		case f.Page != nil:
			for _, m := range f.Page.Messages {
				take(m.Seq)
			}
			if f.Page.More {
				ask()
			}
		case f.Deliver != nil:
			take(f.Deliver.Seq)
			b.ack("g:1", 1, at)
		case f.PullNow != nil:
			ask()
		}
	}
	<-done
}

func TestPageIsCutByBytes(t *testing.T) {
	r := newRig(t, Config{}, push.Config{})
	mustAdd(t, r, "1", "a", "b")
	body := string(make([]byte, 60<<10))
	for i := range 20 {
		if _, err := r.Send(t.Context(), "a", &wire.Send{To: "g:1", ClientMsgId: fmt.Sprint(i), Body: body}); err != nil {
			t.Fatal(err)
		}
	}
	p, err := r.Pull(t.Context(), "b", &wire.PageRequest{Conversation: "g:1", Limit: 1000})
	// 256 KiB hold 4 records of 60 KiB and a little.
	if err != nil || len(p.Messages) != 4 || p.UpTo != 4 || !p.More || p.Head != 20 {
		t.Errorf("%d messages up to %d, more %v, head %d, %v", len(p.Messages), p.UpTo, p.More, p.Head, err)
	}
}

func TestOwnMessagesAreLeftOutAndCovered(t *testing.T) {
	r := newRig(t, Config{}, push.Config{})
	mustAdd(t, r, "1", "a", "b")
	for i, sender := range []string{"a", "b", "a", "b"} {
		if _, err := r.Send(t.Context(), sender, &wire.Send{To: "g:1", ClientMsgId: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	p, err := r.Pull(t.Context(), "b", &wire.PageRequest{Conversation: "g:1"})
	if err != nil || len(p.Messages) != 2 || p.Messages[0].Seq != 1 || p.Messages[1].Seq != 3 || p.UpTo != 4 {
		t.Errorf("%v, %v", p, err)
	}
}

func TestNextPageIsTheAck(t *testing.T) {
	r := newRig(t, Config{}, push.Config{})
	mustAdd(t, r, "1", "a", "b")
	fill(t, r, "a", "g:1", 10)
	ctx := t.Context()
	for _, step := range []struct{ after, cursor uint64 }{{0, 0}, {4, 4}, {8, 8}} {
		if _, err := r.Pull(ctx, "b", &wire.PageRequest{Conversation: "g:1", After: step.after, Limit: 4, Ack: true}); err != nil {
			t.Fatal(err)
		}
		if c := r.store.cursor("g:1", "b"); c != step.cursor {
			t.Errorf("after %d: cursor %d, want %d", step.after, c, step.cursor)
		}
	}
}

func TestTrimAndRetention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Retention: 5, TrimEvery: time.Second}, push.Config{})
		mustAdd(t, r, "1", "a", "b", "c")
		fill(t, r, "a", "g:1", 4)
		ctx := t.Context()
		for user, upTo := range map[string]uint64{"b": 4, "c": 2} {
			if _, err := r.Ack(ctx, user, &wire.Ack{Conversation: "g:1", Epoch: 1, UpTo: upTo}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		// Everybody has 1 and 2; c lacks 3 and 4.
		p, err := r.Pull(ctx, "b", &wire.PageRequest{Conversation: "g:1"})
		if err != nil || p.After != 2 || p.Truncated {
			t.Errorf("%v, %v: b asks for what it has acked itself: nothing of it is missing", p, err)
		}
		for i := range 6 { // seqs 5–10; the limit keeps 6–10, c has lost 3, 4 and 5
			if _, err := r.Send(ctx, "a", &wire.Send{To: "g:1", ClientMsgId: fmt.Sprint("x", i)}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		p, err = r.Pull(ctx, "c", &wire.PageRequest{Conversation: "g:1", After: 2})
		if err != nil || !p.Truncated || p.After != 5 || len(p.Messages) != 5 {
			t.Errorf("%v, %v: want truncated, (5, 10]", p, err)
		}
		if s := r.Stats(); s.Truncated != 3 || s.Trimmed != 5 {
			t.Errorf("trimmed %d, of these truncated %d; want 5, 3", s.Trimmed, s.Truncated)
		}
	})
}
