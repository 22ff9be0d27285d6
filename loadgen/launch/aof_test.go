package launch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// resp is commands as an append-only file holds them.
func resp(commands ...string) string {
	var b strings.Builder
	for _, c := range commands {
		if strings.HasPrefix(c, "#") {
			b.WriteString(c + "\r\n")
			continue
		}
		words := strings.Fields(c)
		fmt.Fprintf(&b, "*%d\r\n", len(words))
		for _, w := range words {
			fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
		}
	}
	return b.String()
}

// adds tells entries that contain an XADD.
func adds(e Entry) bool {
	for _, c := range e {
		if string(c[0]) == "XADD" {
			return true
		}
	}
	return false
}

func TestLastEntries(t *testing.T) {
	script := []string{"MULTI", "XADD log 0-3 r c", "HSET sent x 3", "EXEC"}
	file := resp(append([]string{"SELECT 0", "XADD log 0-1 r a", "#TS:1700000000", "ZADD members 1 u", "XADD log 0-2 r b"}, script...)...) +
		resp("ZADD members 3 u", "PEXPIREAT sent 1", "XADD log 0-4 r d", "ZADD members 4 u")
	starts := map[string]int64{}
	for _, id := range []string{"0-1", "0-2", "0-4"} {
		starts[id] = int64(strings.Index(file, resp("XADD log " + id)[4:])) - 4 // the length of the command differs
	}
	starts["0-3"] = int64(strings.Index(file, resp("MULTI")))
	for _, tt := range []struct {
		n, want, others int
		first           string
	}{
		{1, 1, 1, "0-4"}, {2, 2, 3, "0-3"}, {3, 3, 3, "0-2"}, {4, 4, 4, "0-1"}, {9, 4, 4, "0-1"},
	} {
		for _, half := range []string{"", "*3\r\n$4\r\nXA", resp("MULTI", "XADD log 0-5 r e"), "*", "*2\r\n$3\r\nGET\r\n$1\r\n"} {
			got, err := lastEntries(strings.NewReader(file+half), tt.n, adds)
			if err != nil {
				t.Fatalf("the last %d before %q: %v", tt.n, half, err)
			}
			if len(got.counted) != tt.want || got.others != tt.others || got.starts[0] != starts[tt.first] {
				t.Errorf("the last %d before %q: %d entries, %d others, from byte %d; want %d, %d, %d (%s)",
					tt.n, half, len(got.counted), got.others, got.starts[0], tt.want, tt.others, starts[tt.first], tt.first)
			}
		}
	}
	for _, broken := range []string{"SELECT 0\r\n", "*1\n", "*0\r\n", "*1\r\n$x\r\n", "*1\r\n$3\r\nGETxx", "*-1\r\n", "\r\n", "*1\r\n$99999999999\r\n"} {
		if _, err := lastEntries(strings.NewReader(file+broken), 1, adds); err == nil {
			t.Errorf("%q was taken for part of an append-only file", broken)
		}
	}
}

func TestNewestAOF(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct{ manifest, want string }{
		{"file appendonly.aof.1.base.rdb seq 1 type b\nfile appendonly.aof.1.incr.aof seq 1 type i\nfile appendonly.aof.2.incr.aof seq 2 type i\n", "appendonly.aof.2.incr.aof"},
		{"file appendonly.aof.1.base.rdb seq 1 type b\n", ""},
		{"file ../elsewhere seq 1 type i\n", ""},
	} {
		if err := os.WriteFile(filepath.Join(dir, "appendonly.aof.manifest"), []byte(tt.manifest), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := newestAOF(dir)
		if (err == nil) != (tt.want != "") || err == nil && filepath.Base(got) != tt.want {
			t.Errorf("%q: %s, %v; want %s", tt.manifest, got, err, tt.want)
		}
	}
}

// TestCutTail writes messages as the server's scripts do, kills Redis, cuts, and
// looks at what a restart on the same socket finds.
func TestCutTail(t *testing.T) {
	needRedis(t)
	ctx := t.Context()
	l := newLauncher(t)
	r, err := l.Redis(ctx, RedisOptions{Fsync: FsyncAlways})
	if err != nil {
		t.Fatal(err)
	}
	store := redis.NewScript(`local id = redis.call('XADD', KEYS[1], '0-*', 'r', ARGV[1]); redis.call('HSET', KEYS[2], ARGV[1], id); return id`)
	write := func(from, to int) {
		t.Helper()
		c := client(t, r.URL())
		for i := from; i <= to; i++ {
			if err := store.Run(ctx, c, []string{"{g:a}:log", "{g:a}:sent"}, strconv.Itoa(i)).Err(); err != nil {
				t.Fatal(err)
			}
			if err := c.ZAdd(ctx, "{g:a}:members", redis.Z{Score: float64(i), Member: "u"}).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(1, 10)
	if _, _, err := r.CutTail(1, adds); err == nil || !strings.Contains(err.Error(), "still runs") {
		t.Errorf("a running Redis was cut: %v", err)
	}
	url := r.URL()
	for _, step := range []struct{ cut, last int }{{0, 10}, {3, 7}, {1, 6}} {
		if err := r.Kill(); err != nil {
			t.Fatal(err)
		}
		gone, others, err := r.CutTail(step.cut, adds)
		if err != nil {
			t.Fatal(err)
		}
		if len(gone) != step.cut || others != step.cut {
			t.Errorf("%d messages and %d others were cut; want %d of each", len(gone), others, step.cut)
		}
		for i, e := range gone {
			// XADD is written with the id that it got, so who cut knows what is gone.
			want := "0-" + strconv.Itoa(step.last+1+i)
			if string(e[0][1]) != "{g:a}:log" || string(e[0][2]) != want {
				t.Errorf("entry %d: %q; want an XADD of %s", i, e[0], want)
			}
		}
		if err := r.Restart(ctx); err != nil {
			t.Fatal(err)
		}
		if r.URL() != url {
			t.Errorf("the URL is %s after the restart, was %s", r.URL(), url)
		}
		c := client(t, r.URL())
		if n, score := c.XLen(ctx, "{g:a}:log").Val(), c.ZScore(ctx, "{g:a}:members", "u").Val(); n != int64(step.last) || score != float64(step.last) {
			t.Errorf("after a cut of %d: %d messages, the cursor at %v; want %d of both", step.cut, n, score, step.last)
		}
		if n := c.HLen(ctx, "{g:a}:sent").Val(); n != int64(step.last) {
			t.Errorf("%d sends are remembered, want %d: a script's writes go together", n, step.last)
		}
	}
	write(7, 7) // what was cut gives its seq to another
	if last := client(t, r.URL()).XRevRangeN(ctx, "{g:a}:log", "+", "-", 1).Val(); len(last) != 1 || last[0].ID != "0-7" {
		t.Errorf("the next message is %v, want 0-7 again", last)
	}
}

func TestCutTailThatCannotBe(t *testing.T) {
	needRedis(t)
	l := newLauncher(t)
	off, err := l.Redis(t.Context(), RedisOptions{Fsync: FsyncOff})
	if err != nil {
		t.Fatal(err)
	}
	if err := off.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := off.CutTail(1, adds); err == nil || !strings.Contains(err.Error(), "everysec or always") {
		t.Errorf("without an append-only file: %v", err)
	}
	embedded, err := newLauncher(t).Redis(t.Context(), RedisOptions{Embedded: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := embedded.CutTail(1, adds); !errors.Is(err, ErrNotOurs) {
		t.Errorf("the embedded store: %v, want ErrNotOurs", err)
	}
}

func FuzzLastEntries(f *testing.F) {
	f.Add([]byte(resp("SELECT 0", "XADD log 0-1 r a", "MULTI", "XADD log 0-2 r b", "EXEC")), 1)
	f.Add([]byte(resp("MULTI", "XADD log 0-2 r b")), 2)
	f.Add([]byte("#TS:1\r\n*1\r\n$4\r\nXADD\r\n"), 1)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		if n < 1 || n > 100 {
			return
		}
		got, err := lastEntries(strings.NewReader(string(b)), n, adds)
		if err != nil {
			return
		}
		if len(got.counted) > n || len(got.counted) != len(got.starts) || len(got.counted) != len(got.behind) {
			t.Fatalf("%d entries, %d starts, asked for %d", len(got.counted), len(got.starts), n)
		}
		if len(got.starts) == 0 {
			return
		}
		// What is left has exactly so many fewer.
		rest, err := lastEntries(strings.NewReader(string(b[:got.starts[0]])), len(b)+1, adds)
		if err != nil {
			t.Fatal(err)
		}
		all, _ := lastEntries(strings.NewReader(string(b)), len(b)+1, adds)
		if len(rest.counted)+len(got.counted) != len(all.counted) {
			t.Fatalf("%d left and %d cut of %d", len(rest.counted), len(got.counted), len(all.counted))
		}
	})
}
