package cli_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ackmark/loadgen/launch"
	"ackmark/results"
)

// program is loadgen as a process of its own.
type program struct {
	*exec.Cmd
	tmp string // its TMPDIR
	dir string // its --out

	mu  sync.Mutex
	err bytes.Buffer
}

// Write collects stderr.
func (p *program) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err.Write(b)
}

func (p *program) stderr() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err.String()
}

// start runs a profile that lasts much longer than any test, unless set
// otherwise.
func start(t *testing.T, more ...string) *program {
	t.Helper()
	needRedis(t)
	p := &program{tmp: t.TempDir(), dir: filepath.Join(t.TempDir(), "out")}
	args := append([]string{"run"}, short("phases.measure=10m")...)
	args = append(append(args, "--out", p.dir), more...)
	p.Cmd = exec.Command(os.Args[0], args...)
	p.Env = append(os.Environ(), asProgram+"=1", "TMPDIR="+p.tmp)
	p.Stderr = p
	return p
}

// begin starts the process and returns its children once it measures.
func (p *program) begin(t *testing.T) (children []int) {
	t.Helper()
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() })
	eventually(t, "it measures", func() bool { return strings.Contains(p.stderr(), ": measure") }, p.stderr)
	children = childrenOf(t, p.Process.Pid)
	if len(children) != 2 {
		t.Fatalf("%d children, want Redis and the server", len(children))
	}
	return children
}

// ended waits for the process and returns its exit code.
func (p *program) ended(t *testing.T) int {
	t.Helper()
	err := p.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return p.ProcessState.ExitCode()
}

// eventually polls until a condition holds, for at most 20 s.
func eventually(t *testing.T, what string, holds func() bool, explain func() string) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(20 * time.Second)
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within 20 s: %s\n%s", what, explain())
		}
	}
}

func childrenOf(t *testing.T, pid int) []int {
	t.Helper()
	var out []int
	files, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue // the thread has ended
		}
		for _, s := range strings.Fields(string(b)) {
			n, err := strconv.Atoi(s)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, n)
		}
	}
	return out
}

// gone checks that processes have ended; zombies have.
func gone(t *testing.T, pids []int) {
	t.Helper()
	eventually(t, "children end", func() bool {
		for _, pid := range pids {
			b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
			if err == nil && !strings.Contains(string(b), ") Z ") {
				return false
			}
		}
		return true
	}, func() string { return "" })
}

func TestInterrupt(t *testing.T) {
	p := start(t, "--json")
	children := p.begin(t)
	// There should be something to report.
	eventually(t, "10 messages are stored", func() bool { return p.stored(t) >= 10 }, p.stderr)
	if err := p.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := p.ended(t); code != 130 {
		t.Errorf("exit %d, want 130\n%s", code, p.stderr())
	}
	gone(t, children)
	nothingLeft(t, p.tmp)
	r, err := results.Read(p.dir)
	if err != nil {
		t.Fatalf("%v\n%s", err, p.stderr())
	}
	if !r.Interrupted || r.ExitCode != results.ExitInterrupted || len(r.Runs) != 1 {
		t.Fatalf("interrupted %v, exit code %d, %d runs; want what was measured so far", r.Interrupted, r.ExitCode, len(r.Runs))
	}
	a := r.Runs[0].Audit
	if a.Sends == 0 || a.Deliveries != a.Expected || a.Lost != 0 {
		t.Errorf("audit %+v; it should hold for what was sent", a)
	}
	for _, c := range r.Runs[0].Health.Reconciliations {
		if !c.OK() {
			t.Errorf("%s: %v and %v", c.What, c.Ours, c.Theirs)
		}
	}
}

// stored counts the messages in the group's log of its private Redis.
func (p *program) stored(t *testing.T) int64 {
	t.Helper()
	sockets, err := filepath.Glob(filepath.Join(p.tmp, "ackmark-*", "run-*", "redis.sock"))
	if err != nil || len(sockets) != 1 {
		t.Fatalf("sockets %v, %v; want one", sockets, err)
	}
	c, err := launch.Connect("unix://" + sockets[0])
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	logs, err := c.Keys(t.Context(), "*:log").Result()
	if err != nil {
		t.Fatal(err)
	}
	var n int64
	for _, log := range logs {
		info, err := c.XInfoStream(t.Context(), log).Result()
		if err != nil {
			t.Fatal(err)
		}
		n += info.EntriesAdded
	}
	return n
}

func TestInterruptBeforeAnything(t *testing.T) {
	p := start(t)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() })
	eventually(t, "it starts", func() bool { return strings.Contains(p.stderr(), ": start") }, p.stderr)
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.ended(t); code != 130 {
		t.Errorf("exit %d, want 130\n%s", code, p.stderr())
	}
	nothingLeft(t, p.tmp)
	r, err := results.Read(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Interrupted || r.Verdict.Status == results.Pass {
		t.Errorf("interrupted %v, verdict %s", r.Interrupted, r.Verdict.Status)
	}
}

func TestInterruptTwice(t *testing.T) {
	p := start(t)
	children := p.begin(t)
	for range 2 {
		if err := p.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		_ = syscall.Kill(p.Process.Pid, syscall.SIGTERM) // a signal that is pending already is sent once
	}
	if code := p.ended(t); code != 130 {
		t.Errorf("exit %d, want 130\n%s", code, p.stderr())
	}
	gone(t, children)
}

// TestKilled kills the generator outright: its children die with it, and the
// next run sweeps its directory.
func TestKilled(t *testing.T) {
	p := start(t)
	children := p.begin(t)
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if code := p.ended(t); code == 0 {
		t.Error("exit 0 of a process that was killed")
	}
	if r, err := results.Read(p.dir); err == nil {
		t.Errorf("it left a result: %s", r.Verdict.Status)
	}
	gone(t, children)
	next := start(t, "--set", "phases.measure=1s")
	next.tmp = p.tmp
	next.Env = append(next.Env, "TMPDIR="+p.tmp)
	if err := next.Start(); err != nil {
		t.Fatal(err)
	}
	next.ended(t)
	nothingLeft(t, p.tmp)
}

// TestChildDies kills Redis and the server in turn: the run is broken off with
// the reason, and everything is cleaned up.
func TestChildDies(t *testing.T) {
	for _, which := range []string{"redis-server", "refserver"} {
		t.Run(which, func(t *testing.T) {
			p := start(t)
			children := p.begin(t)
			killed := false
			for _, pid := range children {
				cmdline, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
				if err != nil {
					t.Fatal(err)
				}
				if bytes.Contains(cmdline, []byte(which)) {
					killed = true
					if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
						t.Fatal(err)
					}
				}
			}
			if !killed {
				t.Fatalf("no child is a %s", which)
			}
			if code := p.ended(t); code != 5 {
				t.Errorf("exit %d, want 5", code)
			}
			if !strings.Contains(p.stderr(), "broken off") || !strings.Contains(p.stderr(), "killed") {
				t.Errorf("stderr doesn't say what happened:\n%s", p.stderr())
			}
			gone(t, children)
			nothingLeft(t, p.tmp)
			if logs, _ := filepath.Glob(filepath.Join(p.dir, "*.log")); len(logs) == 0 {
				t.Error("the children's logs weren't kept")
			}
		})
	}
}

// TestClosedStdout reads nothing of what is printed: a fail stays a fail, and a
// pass that nobody saw is none.
func TestClosedStdout(t *testing.T) {
	for _, tt := range []struct {
		name, threshold string
		codes           []int
	}{
		{"pass", "lost == 0", []int{5, 3}}, // 3: this machine was too busy to be trusted
		{"fail", "deliveries > 1000000", []int{1, 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			r.Close()
			defer w.Close()
			p := start(t, "--set", "phases.measure=1s", "--set", "thresholds="+tt.threshold)
			p.Stdout = w
			if err := p.Start(); err != nil {
				t.Fatal(err)
			}
			code := p.ended(t)
			if code != tt.codes[0] && code != tt.codes[1] {
				t.Errorf("exit %d, want one of %v\n%s", code, tt.codes, p.stderr())
			}
			if !strings.Contains(p.stderr(), "writing to stdout") {
				t.Errorf("stderr doesn't say that stdout is closed:\n%s", p.stderr())
			}
			nothingLeft(t, p.tmp)
		})
	}
}
