package engine

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"ackmark/loadgen/launch"
	"ackmark/loadgen/ledger"
	"ackmark/loadgen/population"
	"ackmark/profiles"
)

func TestTimeline(t *testing.T) {
	ms := func(n int) profiles.Duration { return profiles.Duration(time.Duration(n) * time.Millisecond) }
	var have []string
	for _, f := range timeline([]profiles.Fault{
		{Kind: "kill-server", At: ms(500), Down: ms(100)},
		{Kind: "reset", At: ms(200), Every: ms(300)},
		{Kind: "kill-redis", At: ms(400), Down: ms(300), Every: ms(200)},
	}, ms(1000)) {
		have = append(have, fmt.Sprintf("%s %d", f.Kind, f.at.Milliseconds()))
	}
	// What would end after the phase doesn't begin.
	want := "reset 200, kill-redis 400, kill-server 500, reset 500, kill-redis 600, reset 800"
	if got := strings.Join(have, ", "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// entry is one entry of an append-only file, a command per string.
func entry(commands ...string) launch.Entry {
	var e launch.Entry
	for _, c := range commands {
		var args [][]byte
		for _, w := range strings.Fields(c) {
			args = append(args, []byte(w))
		}
		e = append(e, args)
	}
	return e
}

func TestMessageOfAnEntry(t *testing.T) {
	s := &store{ns: "am:x.r1"}
	for _, tt := range []struct {
		name  string
		entry launch.Entry
		want  lostMessage
	}{
		{"a log", entry("XADD am:x.r1:{g:a}:log 0-7 r body"), lostMessage{"g:a", 7}},
		{"an inbox, by a script", entry("HSET am:x.r1:{u:b}:meta epoch 1 base 0", "xadd am:x.r1:{u:b}:inbox 0-12 r body", "HSET am:x.r1:{u:b}:sent:1 f 12"), lostMessage{"u:b", 12}},
		{"copies", entry("HINCRBY am:x.r1:{g:a}:meta seq 1", "HSET am:x.r1:{g:a}:storing 3 body"), lostMessage{"g:a", 3}},
		{"ids: once, though in the log and in storing", entry("XADD am:x.r1:{g:a}:log 0-4 r body", "HSET am:x.r1:{g:a}:storing 4 x"), lostMessage{"g:a", 4}},
		{"pushed without being stored", entry("XADD am:x.r1:{u:b}:inbox 0-5 r body", "XDEL am:x.r1:{u:b}:inbox 0-5"), lostMessage{}},
		{"added, while another went", entry("XADD am:x.r1:{u:b}:inbox 0-6 r body", "XDEL am:x.r1:{u:b}:inbox 0-5"), lostMessage{"u:b", 6}},
		{"another run's", entry("XADD am:x.r10:{g:a}:log 0-7 r body"), lostMessage{}},
		{"a row of a fan-out", entry("ZADD am:x.r1:{u:b}:copies 0 member"), lostMessage{}},
		{"an ack", entry("ZADD am:x.r1:{g:a}:members XX GT 7 b"), lostMessage{}},
		{"no key", entry("SELECT 0"), lostMessage{}},
		{"no seq", entry("XADD am:x.r1:{g:a}:log * r body"), lostMessage{}},
		{"nothing", launch.Entry{}, lostMessage{}},
	} {
		got, ok := s.message(tt.entry)
		if got != tt.want || ok != (tt.want.seq > 0) || s.isMessage(tt.entry) != ok {
			t.Errorf("%s: %+v, %v; want %+v", tt.name, got, ok, tt.want)
		}
	}
}

// TestBases: what two kills cut, and what the store has noted of the second.
func TestBases(t *testing.T) {
	d := damage{tails: []lostTail{
		{epoch: 10, messages: []lostMessage{{"g:a", 8}, {"u:b", 3}, {"g:a", 9}}},
		{epoch: 20},
		{epoch: 30, messages: []lostMessage{{"u:b", 2}}},
	}}
	noted := []ledger.Base{{Epoch: 31, Head: 12}}
	if got, want := d.bases("g:a", noted), []ledger.Base{{Epoch: 31, Head: 12}, {Epoch: 11, Head: 7}}; !reflect.DeepEqual(got, want) {
		t.Errorf("g:a %v, want %v", got, want)
	}
	if got, want := d.bases("u:b", nil), []ledger.Base{{Epoch: 11, Head: 2}, {Epoch: 31, Head: 1}}; !reflect.DeepEqual(got, want) {
		t.Errorf("u:b %v, want %v", got, want)
	}
	if got := d.bases("g:c", nil); len(got) != 0 {
		t.Errorf("g:c lost nothing: %v", got)
	}
	d.tails[1].all = true // no append-only file
	if got, want := d.bases("g:c", nil), []ledger.Base{{Epoch: 21}}; !reflect.DeepEqual(got, want) {
		t.Errorf("g:c %v, want %v", got, want)
	}
	if len(noted) != 1 {
		t.Error("what the store noted was written to")
	}
}

// TestNotedBases: the store notes the base of its last epoch alone, so it is read
// before each kill. Of what was stored in the first epoch 6 and 7 are gone, though
// both seqs are there when the third one begins.
func TestNotedBases(t *testing.T) {
	m := miniredis.RunT(t)
	c := redis.NewClient(&redis.Options{Addr: m.Addr()})
	defer c.Close()
	ctx := t.Context()
	pop := &population.Population{Users: []string{"u0"}, Groups: []population.Group{{ID: "a"}}}
	s, err := openStore("redis://"+m.Addr(), "ns", profiles.Server{Group: profiles.GroupCopies})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	var d damage
	used := func(c int) bool { return c == 0 }
	for _, meta := range []struct{ epoch, base, seq int }{{100, 0, 7}, {200, 5, 9}, {200, 5, 9}} {
		c.HSet(ctx, "ns:{g:a}:meta", "epoch", meta.epoch, "base", meta.base, "seq", meta.seq)
		c.HSet(ctx, "ns:epoch", "epoch", meta.epoch)
		if err := d.note(ctx, s, pop, used); err != nil {
			t.Fatal(err)
		}
	}
	c.HSet(ctx, "ns:epoch", "epoch", 300) // in which nothing touches the group; it has lost 9
	c.HSet(ctx, "ns:{g:a}:meta", "seq", 8)
	held, err := s.read(ctx, pop, used, true)
	if err != nil {
		t.Fatal(err)
	}
	got := d.bases("g:a", held[0].Bases)
	want := []ledger.Base{{Epoch: 200, Head: 5}, {Epoch: 300, Head: 8}, {Epoch: 100, Head: 0}, {Epoch: 200, Head: 5}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("bases %v, want %v", got, want)
	}
	book, err := ledger.New(ledger.Config{Conversations: []ledger.Conversation{{Name: "g:a", Recipients: []int{0}, Senders: []int{1, 1, 1, 1, 1, 1}}}})
	if err != nil {
		t.Fatal(err)
	}
	for k, at := range [][2]uint64{{100, 5}, {100, 6}, {100, 7}, {200, 6}, {200, 8}, {200, 9}} {
		book.OnAccepted(0, k, at[0], at[1])
	}
	view := held[0].Stored
	view.Bases = got
	view.Row = func(int, uint64) ledger.Row { return ledger.Waiting }
	rep := book.Audit(func(int) (ledger.Stored, bool) { return view, true })
	if rep.Lost != 3 || rep.LostWithTail != 3 || rep.CutAccepted != 3 || rep.Pending != 3 {
		t.Errorf("%+v; 6 and 7 of the first epoch and 9 of the second are gone", rep)
	}
}
