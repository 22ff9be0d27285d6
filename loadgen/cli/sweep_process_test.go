package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ackmark/loadgen/cli"
	"ackmark/refserver/server"
	"ackmark/results"
)

// lockedBuffer collects what a process says, and closes seen at the first line
// that matches.
type lockedBuffer struct {
	mu      sync.Mutex
	text    bytes.Buffer
	pattern *regexp.Regexp
	seen    chan struct{}
	once    sync.Once
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, err := b.text.Write(p)
	if b.pattern.Match(b.text.Bytes()) {
		b.once.Do(func() { close(b.seen) })
	}
	return n, err
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// startSweep runs a sweep in a process of its own and waits until it has said
// a line that matches.
func startSweep(t *testing.T, line string, args ...string) (cmd *exec.Cmd, stderr *lockedBuffer) {
	t.Helper()
	needRedis(t)
	t.Setenv("TMPDIR", t.TempDir())
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	stderr = &lockedBuffer{pattern: regexp.MustCompile(line), seen: make(chan struct{})}
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	select {
	case <-stderr.seen:
	case <-time.After(2 * time.Minute):
		t.Fatalf("never said %s:\n%s", line, stderr)
	}
	return cmd, stderr
}

// TestSweepKilled kills a sweep within its second run: its children end with it,
// its lock with the process; what was measured stands, and only the rest is measured.
func TestSweepKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	cmd, _ := startSweep(t, `\[2/2[^]]*\] every=\d, repeat 1: measure`, sweepOf(dir)...)
	children := childrenOf(t, cmd.Process.Pid)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if gone(t, children); len(children) != 2 {
		t.Errorf("%d children, want Redis and the server", len(children))
	}
	files := runFiles(t, dir)
	if len(files) != 1 {
		t.Fatalf("%d runs were kept, want 1", len(files))
	}
	before, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := cli.Run([]string{"sweep", "--resume", dir}, cli.Streams{In: bytes.NewReader(nil), Out: &out, Err: &errs}, server.Main)
	r := readable(t, outcome{code: code, err: errs.String()}, dir)
	if len(r.Runs) != 2 || !strings.Contains(errs.String(), "1 of 2 runs measured before, 1 missing") {
		t.Errorf("%d runs\n%s", len(r.Runs), errs.String())
	}
	if after, err := os.ReadFile(files[0]); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the run that was kept has changed: %v", err)
	}
}

func TestSweepInterrupted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	cmd, stderr := startSweep(t, `\[2/2[^]]*\] every=\d, repeat 1: measure`, sweepOf(dir)...)
	second := loadgen("sweep", "--resume", dir)
	if second.code != 2 || !strings.Contains(second.err, "another loadgen is at work") {
		t.Errorf("a second one in the same directory: exit %d, %s", second.code, second.err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if cmd.ProcessState.ExitCode() != 130 || !strings.Contains(stderr.String(), "--resume "+dir+" measures the 1 of 2 runs missing") {
		t.Errorf("exit %d\n%s", cmd.ProcessState.ExitCode(), stderr)
	}
	r, err := results.Read(dir)
	if err != nil || !r.Interrupted || len(r.Runs) != 1 {
		t.Fatalf("interrupted result: %v", err)
	}
}

// A second signal ends a sweep at once, and what it started with it; SIGTERM
// counts as one. The lock goes, and the directory can be gone on with.
func TestSweepInterruptedTwice(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	cmd, stderr := startSweep(t, `\[1/2[^]]*\] every=\d, repeat 1: measure`, append(sweepOf(dir), "--set", "phases.measure=10s")...)
	children := childrenOf(t, cmd.Process.Pid)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
	}
	_ = cmd.Wait()
	if cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("exit %d\n%s", cmd.ProcessState.ExitCode(), stderr)
	}
	gone(t, children)
	if o := loadgen("sweep", "--resume", dir, "--dry-run"); o.code != 0 || !strings.Contains(o.out, "= 2 runs, about ") {
		t.Errorf("exit %d, %s%s", o.code, o.out, o.err)
	}
}

// Nobody reads stdout: a pass that nobody saw is none, and the files are written.
func TestSweepClosedStdout(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	var errs bytes.Buffer
	needRedis(t)
	t.Setenv("TMPDIR", t.TempDir())
	code := cli.Run(append(sweepOf(dir), "--embedded"), cli.Streams{In: bytes.NewReader(nil), Out: w, Err: &errs}, server.Main)
	verdict := readable(t, outcome{err: errs.String()}, dir).Verdict.Status
	if want := map[results.Status]int{results.Pass: 5, results.Invalid: 3}[verdict]; code != want || !strings.Contains(errs.String(), "writing to stdout") {
		t.Errorf("%s: exit %d, want %d\n%s", verdict, code, want, errs.String())
	}
}
