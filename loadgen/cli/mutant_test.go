package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// mutation is a defect that a test puts into the real server: one text of one
// file for another.
type mutation struct {
	file     string // from the module's root
	old, new string
}

// The regressions that gates have to catch.
var (
	// A Redis command more for each send, in the round trip that there is.
	oneMoreCommand = mutation{
		file: "refserver/redisstore/append.go",
		old:  "\ts.counters.issued(cmdAppend, len(batch))\n",
		new: "\tfor _, a := range batch {\n\t\t_ = pipe.Process(s.stop, redis.NewCmd(s.stop, \"exists\", s.keys.meta(a.Conversation)))\n\t}\n" +
			"\ts.counters.issued(cmdAppend, 2*len(batch))\n",
	}
	// The same, and the server doesn't count it: Redis alone tells.
	oneMoreUncounted = mutation{
		file: "refserver/redisstore/append.go",
		old:  "\ts.counters.issued(cmdAppend, len(batch))\n",
		new: "\tfor _, a := range batch {\n\t\t_ = pipe.Process(s.stop, redis.NewCmd(s.stop, \"exists\", s.keys.meta(a.Conversation)))\n\t}\n" +
			"\ts.counters.issued(cmdAppend, len(batch))\n",
	}
	// Each recipient gets a copy of the encoded message of its own.
	oneMoreCopy = mutation{
		file: "refserver/push/room.go",
		old:  "\t\tb := r.frames[i].bytes(c.form, r.conversation, r.epoch, msg)\n",
		new:  "\t\tb := append([]byte(nil), r.frames[i].bytes(c.form, r.conversation, r.epoch, msg)...)\n",
	}
	// What acks the server holds is lost when it stops in order.
	noLastFlush = mutation{
		file: "refserver/delivery/service.go",
		old:  "\terr := s.acks.drain(ctx)\n",
		new:  "\tvar err error\n",
	}
)

// unchanged holds what mutant built without mutations, once for all tests, in a
// directory that TestMain removes.
var unchanged struct {
	sync.Mutex
	dir      string
	programs map[string]string
}

// tempDir is the system's: tests set TMPDIR to ones of their own.
var tempDir = os.TempDir()

func removeUnchanged() { _ = os.RemoveAll(unchanged.dir) }

// mutant builds ./loadgen or ./refserver of this module with mutations, and
// nothing of it in the tree: "go build -overlay".
func mutant(t *testing.T, program string, mutations ...mutation) string {
	t.Helper()
	if len(mutations) > 0 {
		return build(t, t.TempDir(), program, mutations...)
	}
	unchanged.Lock()
	defer unchanged.Unlock()
	if path, built := unchanged.programs[program]; built {
		return path
	}
	if unchanged.programs == nil {
		dir, err := os.MkdirTemp(tempDir, "ackmark-unchanged-")
		if err != nil {
			t.Fatal(err)
		}
		unchanged.dir, unchanged.programs = dir, map[string]string{}
	}
	path := build(t, unchanged.dir, program)
	unchanged.programs[program] = path
	return path
}

func build(t *testing.T, dir, program string, mutations ...mutation) string {
	t.Helper()
	root := moduleRoot(t)
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for _, m := range mutations {
		path := filepath.Join(root, filepath.FromSlash(m.file))
		from := path
		if changed, again := overlay.Replace[path]; again {
			from = changed
		}
		b, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(b), m.old); n != 1 {
			t.Fatalf("%s has the text %q %d times, want once: the mutation has to follow the code", m.file, m.old, n)
		}
		to := filepath.Join(dir, strings.ReplaceAll(m.file, "/", "_"))
		if err := os.WriteFile(to, []byte(strings.Replace(string(b), m.old, m.new, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[path] = to
	}
	b, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	spec, out := filepath.Join(dir, "overlay.json"), filepath.Join(dir, program)
	if err := os.WriteFile(spec, b, 0o644); err != nil {
		t.Fatal(err)
	}
	// No VCS stamp: reading it takes long in a large tree, and says nothing of a mutant.
	cmd := exec.Command("go", "build", "-buildvcs=false", "-overlay", spec, "-o", out, "./"+program)
	cmd.Dir = root
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, text)
	}
	return out
}

// moduleRoot is where go.mod is. Skips where there is no Go to build with, but
// never in CI.
func moduleRoot(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("go is not in PATH, and CI=true: this test must run")
		}
		t.Skip("go is not in PATH; not checked: that the gate catches regressions of the real server")
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test's directory")
		}
	}
}
