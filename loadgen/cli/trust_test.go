package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ackmark/results"
)

// A generator that was paused, starved or killed, or whose result didn't get
// through, never yields a pass. TestInterrupt, TestKilled and TestClosedStdout
// are the rest of it.

// busyEnough is traffic that fills a short phase: 120 messages/s for 3 s, so that
// 1 % of them are those of 30 ms.
var busyEnough = []string{"--set", "phases.measure=3s", "--set", "traffic.group.rate=100/s"}

// only reads the result of the only run.
func (p *program) only(t *testing.T) (*results.Result, *results.Run) {
	t.Helper()
	r, err := results.Read(p.dir)
	if err != nil {
		t.Fatalf("%v\n%s", err, p.stderr())
	}
	if len(r.Runs) != 1 {
		t.Fatalf("%d runs, want 1", len(r.Runs))
	}
	return r, &r.Runs[0]
}

// blamed tells whether the generator's own health is among the reasons.
func blamed(r *results.Result, what string) bool {
	return slices.ContainsFunc(r.Verdict.Reasons, func(x results.Reason) bool {
		return x.Kind == results.ReasonHealth && strings.Contains(x.Text, what)
	})
}

func value(t *testing.T, run *results.Run, metric string) time.Duration {
	t.Helper()
	v, ok := run.Value(metric)
	if !ok {
		t.Fatalf("%s has no value", metric)
	}
	return time.Duration(v * 1e3)
}

// TestPausedGenerator stops the generator for 200 ms. What it should have sent
// then left up to 200 ms late: 30 ms of the phase are 1 %, so that p99 is about
// 170 ms of schedule lag and of response time; arrivals are Poisson, hence not
// more than 100 ms is asked for. The server was quick all along, and service
// time says so, unless more than 1 % of the deliveries were under way when the
// pause began: those carry it rightly, so a busy machine is given three turns.
func TestPausedGenerator(t *testing.T) {
	const pause, p99, turns = 200 * time.Millisecond, 100 * time.Millisecond, 3
	for turn := 1; ; turn++ {
		p := start(t, busyEnough...)
		p.begin(t)
		p.pause(t, pause)
		if code := p.ended(t); code != 3 {
			t.Errorf("exit %d, want 3\n%s", code, p.stderr())
		}
		r, run := p.only(t)
		if r.Verdict.Status != results.Invalid || !blamed(r, "schedule lag") {
			t.Errorf("verdict %s with %v, want invalid for schedule lag", r.Verdict.Status, r.Verdict.Reasons)
		}
		for _, metric := range []string{"schedule_lag.p99", "hiccup.p99", "live.p99", "send.p99"} {
			if v := value(t, run, metric); v < p99 {
				t.Errorf("%s is %v; a pause of %v must show", metric, v, pause)
			}
		}
		shown := ""
		for _, kind := range []string{"live", "send"} {
			response, service := value(t, run, kind+".p99"), value(t, run, kind+"_service.p99")
			if service > response-p99/2 {
				shown = fmt.Sprintf("%s: p99 of service time is %v, of response time %v; the pause isn't the server's", kind, service, response)
			}
		}
		if shown == "" || t.Failed() {
			return
		}
		if turn == turns {
			t.Fatal(shown)
		}
		t.Log(shown)
	}
}

// pause stops the generator for a time, not its children.
func (p *program) pause(t *testing.T, d time.Duration) {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	<-time.After(d)
	if err := p.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}

// TestThrottledGenerator lets the generator run for half of the time only, as a
// control group's CPU limit does.
func TestThrottledGenerator(t *testing.T) {
	p := start(t, busyEnough...)
	p.begin(t)
	ended := make(chan int, 1)
	go func() { _ = p.Wait(); ended <- p.ProcessState.ExitCode() }()
	tick := time.NewTicker(40 * time.Millisecond)
	defer tick.Stop()
	for code := -1; code < 0; {
		_ = p.Process.Signal(syscall.SIGSTOP) // fails once it has ended
		<-tick.C
		_ = p.Process.Signal(syscall.SIGCONT)
		select {
		case code = <-ended:
			if code != 3 {
				t.Errorf("exit %d, want 3\n%s", code, p.stderr())
			}
		case <-tick.C:
		}
	}
	if r, _ := p.only(t); !blamed(r, "the generator's hiccup") {
		t.Errorf("reasons %v, want the generator's hiccup", r.Verdict.Reasons)
	}
}

// TestStarvedGenerator runs four busy processes per core beside it.
func TestStarvedGenerator(t *testing.T) {
	if testing.Short() {
		t.Skip("keeps all cores busy for some seconds")
	}
	p := start(t, "--set", "phases.measure=2s")
	for range 4 * runtime.NumCPU() {
		spin := exec.Command(os.Args[0])
		spin.Env = append(os.Environ(), asSpinner+"=1")
		in, err := spin.StdinPipe() // its end ends the process, however this one does
		if err != nil {
			t.Fatal(err)
		}
		if err := spin.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			in.Close()
			_ = spin.Process.Kill()
			_ = spin.Wait()
		})
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() })
	if code := p.ended(t); code != 3 {
		t.Errorf("exit %d, want 3\n%s", code, p.stderr())
	}
	r, run := p.only(t)
	if !blamed(r, "the generator") && !blamed(r, "schedule lag") {
		t.Errorf("reasons %v, want the generator's health", r.Verdict.Reasons)
	}
	if w := run.Health.RunQueueMeanUs; w != nil {
		t.Logf("mean wait for a core %.0f µs; %v", *w, r.Verdict.Reasons)
	}
}

// TestFullDisk limits the size of the generator's files as soon as its children
// run: what doesn't fit fails like on a full disk. First the histograms of the
// run don't fit, then the result.
func TestFullDisk(t *testing.T) {
	for name, limit := range map[string]uint64{"no room at all": 1, "room for the histograms": 16 << 10} {
		t.Run(name, func(t *testing.T) {
			p := start(t, "--set", "phases.measure=1s")
			var out bytes.Buffer
			p.Stdout = &out
			p.begin(t)
			if err := unix.Prlimit(p.Process.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: limit, Max: limit}, nil); err != nil {
				t.Fatal(err)
			}
			code := p.ended(t)
			if code != 5 && code != 3 { // 3: this machine was too busy to be trusted
				t.Errorf("exit %d, want 5\n%s", code, p.stderr())
			}
			if !strings.Contains(p.stderr(), "file too large") {
				t.Errorf("stderr doesn't say what happened:\n%s", p.stderr())
			}
			if strings.Contains(out.String(), "verdict: pass") {
				t.Errorf("stdout says that it passed:\n%s", out.String())
			}
			if r, err := results.Read(p.dir); err == nil && r.Verdict.Status == results.Pass {
				t.Error("a result that passes was left")
			}
			nothingLeft(t, p.tmp)
		})
	}
}

// TestFullStdout prints to a device that is always full.
func TestFullStdout(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("no /dev/full: %v", err)
	}
	defer full.Close()
	p := start(t, "--set", "phases.measure=1s")
	p.Stdout = full
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	if code := p.ended(t); code == 0 {
		t.Errorf("exit 0, and nobody saw the table\n%s", p.stderr())
	}
	if left, _ := filepath.Glob(filepath.Join(p.dir, results.FileName)); len(left) != 1 {
		t.Errorf("the result wasn't written: %v", left)
	}
}
