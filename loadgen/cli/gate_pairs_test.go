package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ackmark/results"
	"ackmark/results/gate"
)

// pairArgs measure as few pairs as decide about counts, which hold on a busy
// machine too.
func pairArgs(more ...string) []string {
	return append([]string{"--pairs", "3", "--metrics", "none"}, more...)
}

// tooBusyForPairs skips where too many pairs couldn't be used.
func tooBusyForPairs(t *testing.T, o outcome, rep gate.Report) {
	t.Helper()
	if o.code == 3 && rep.Discarded > 0 {
		t.Skipf("not checked, this machine is too busy: %s%s", o.out, o.err)
	}
}

// TestGateAgainst holds this build against another of the same code, which
// passes, and keeps all runs.
func TestGateAgainst(t *testing.T) {
	needRedis(t)
	same, out := mutant(t, "refserver"), filepath.Join(t.TempDir(), "out")
	o, rep := gateRun(t, pairArgs("--candidate", same, "--against", same, "--out", out)...)
	tooBusyForPairs(t, o, rep)
	if o.code != 0 || rep.Mode != gate.AgainstBuild || rep.Pairs != 3 {
		t.Errorf("exit %d, %d pairs\n%s%s", o.code, rep.Pairs, o.out, o.err)
	}
	if !strings.Contains(rep.Candidate, same) || !strings.Contains(rep.Reference, same) {
		t.Errorf("candidate %q, reference %q", rep.Candidate, rep.Reference)
	}
	runs, _ := filepath.Glob(filepath.Join(out, "runs", "*.json"))
	if len(runs) < 12 { // 3 pairs of 2 variants
		t.Fatalf("runs kept: %v", runs)
	}
	// A B, then B A, with one seed each.
	var order []string
	seeds := map[uint64]int{}
	for _, path := range runs {
		r, err := results.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if r.Runs[0].Variant == "cursor" {
			side := strings.TrimSuffix(path[strings.LastIndex(path, "-")+1:], ".json")
			order = append(order, side)
			seeds[r.Runs[0].Seed]++
		}
	}
	if got := strings.Join(order[:4], " "); got != "candidate reference reference candidate" {
		t.Errorf("order %s", got)
	}
	for seed, n := range seeds {
		if n != 2 {
			t.Errorf("seed %d has %d runs, want a pair", seed, n)
		}
	}
}

// TestGateCalibrate measures the spread of this machine. What that is, a busy
// machine says as little of as of anything.
func TestGateCalibrate(t *testing.T) {
	needRedis(t)
	out := filepath.Join(t.TempDir(), "aa")
	t.Setenv("TMPDIR", t.TempDir())
	o := loadgen(gateArgs("--variant", "cursor", "--calibrate", "8", "--out", out)...)
	if o.code == 3 && strings.Contains(o.err, "too busy") {
		t.Skipf("not checked, this machine is too busy: %s", o.err)
	}
	if o.code != 0 || !strings.Contains(o.out, "calibration of gate") {
		t.Fatalf("exit %d\n%s%s", o.code, o.out, o.err)
	}
	c, err := gate.ReadCalibration(filepath.Join(out, "calibration.json"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Profile != "gate" || c.Pairs != 8 || c.Environment.Hash == "" || len(c.Metrics) == 0 {
		t.Errorf("profile %q, %d pairs, environment %+v, %d metrics", c.Profile, c.Pairs, c.Environment, len(c.Metrics))
	}
}

// TestGateCatches puts a regression into the real server that counts tell.
func TestGateCatches(t *testing.T) {
	needRedis(t)
	good := mutant(t, "refserver")
	for name, c := range map[string]struct {
		mutation mutation
		more     []string
		metric   string
		text     string
	}{
		"a Redis command more per send": {oneMoreCommand, nil, "redis_commands_per_send", ""},
		"a lost flush of acks":          {noLastFlush, []string{"--set", "server.ack_flush=2s"}, "", "acked and still wait"},
	} {
		t.Run(name, func(t *testing.T) {
			o, rep := gateRun(t, pairArgs(append(c.more, "--variant", "cursor", "--candidate", mutant(t, "refserver", c.mutation), "--against", good, "--out", filepath.Join(t.TempDir(), "out"))...)...)
			tooBusyForPairs(t, o, rep)
			if o.code != 1 {
				t.Fatalf("exit %d, want 1\n%s%s", o.code, o.out, o.err)
			}
			failed := checks(rep, c.metric, gate.Failed)
			if len(failed) == 0 || !strings.Contains(failed[0].Text, c.text) {
				t.Errorf("%q isn't why it failed:\n%s", c.metric+c.text, o.out)
			}
		})
	}
}

// TestGateCatchesUncounted finds a Redis command more per send that the server
// doesn't count, in sends of the measured phase: 20 of them, a command each.
func TestGateCatchesUncounted(t *testing.T) {
	needRedis(t)
	t.Setenv("GITHUB_STEP_SUMMARY", "")
	args := append([]string{"gate", filepath.Join("testdata", "gate-cpu.yaml"), "--json", "--quiet",
		"--set", "population.users=10", "--set", "population.groups.members=10", "--set", "traffic.group.bytes=200",
		"--set", "phases.warmup=0s", "--set", "phases.measure=1s"}, pairArgs()...)
	o := loadgen(append(args, "--candidate", mutant(t, "refserver", oneMoreUncounted), "--against", mutant(t, "refserver"), "--out", filepath.Join(t.TempDir(), "out"))...)
	tooBusy(t, o)
	var rep gate.Report
	if err := json.Unmarshal([]byte(o.out), &rep); err != nil {
		t.Fatalf("exit %d: %v in %s%s", o.code, err, o.out, o.err)
	}
	tooBusyForPairs(t, o, rep)
	failed := checks(rep, "", gate.Failed)
	if o.code != 1 || len(failed) != 1 || failed[0].Metric != "Redis exists per send" || !strings.Contains(failed[0].Text, "calls of exists per send are 1, were 0") {
		t.Errorf("exit %d, want 1 for exists alone: %+v\n%s", o.code, failed, o.err)
	}
}

// TestGateCatchesCopy finds a copy more per delivery by what the server allocates,
// whatever the size of bodies: that doesn't depend on how busy the machine is.
func TestGateCatchesCopy(t *testing.T) {
	needRedis(t)
	args := []string{"gate", filepath.Join("testdata", "gate-cpu.yaml"), "--json", "--quiet", "--set", "traffic.group.bytes=200",
		"--set", "phases.measure=1s", "--pairs", "6"}
	t.Setenv("GITHUB_STEP_SUMMARY", "")
	o := loadgen(append(args, "--candidate", mutant(t, "refserver", oneMoreCopy), "--against", mutant(t, "refserver"), "--out", filepath.Join(t.TempDir(), "out"))...)
	tooBusy(t, o)
	if o.code != 1 || !strings.Contains(o.out, "server_allocated_bytes_per_delivery") {
		t.Errorf("exit %d, want 1\n%s%s", o.code, o.out, o.err)
	}
}

// TestGateCatchesCPU puts a copy more per delivery into the real server. Where
// bodies are of 16 KiB it doubles the CPU per delivery; of 200 bytes it can't be
// seen in it.
func TestGateCatchesCPU(t *testing.T) {
	if os.Getenv("ACKMARK_TEST_AB") != "1" {
		t.Skip("not checked: that the gate catches a copy more per delivery by its CPU; it takes some minutes of an idle machine, ACKMARK_TEST_AB=1 runs it")
	}
	needRedis(t)
	good, bad := mutant(t, "refserver"), mutant(t, "refserver", oneMoreCopy)
	args := []string{"gate", filepath.Join("testdata", "gate-cpu.yaml"), "--json", "--quiet"}
	t.Setenv("GITHUB_STEP_SUMMARY", "")
	o := loadgen(append(args, "--candidate", bad, "--against", good, "--out", filepath.Join(t.TempDir(), "bad"))...)
	if o.code != 1 || !strings.Contains(o.out, "server_cpu_us_per_delivery") {
		t.Errorf("exit %d, want 1\n%s%s", o.code, o.out, o.err)
	}
	o = loadgen(append(args, "--candidate", good, "--against", good, "--out", filepath.Join(t.TempDir(), "good"))...)
	if o.code != 0 && o.code != 4 {
		t.Errorf("the same build: exit %d, want 0, or 4 where this machine's spread is too wide\n%s%s", o.code, o.out, o.err)
	}
}

// startGate starts pairs that last much longer than any test.
func startGate(t *testing.T) *program {
	t.Helper()
	needRedis(t)
	p := &program{tmp: t.TempDir(), dir: filepath.Join(t.TempDir(), "out")}
	p.Cmd = exec.Command(os.Args[0], "gate", filepath.Join("testdata", "gate.yaml"), "--set", "phases.measure=10m",
		"--against", mutant(t, "refserver"), "--out", p.dir)
	p.Env = append(os.Environ(), asProgram+"=1", "TMPDIR="+p.tmp)
	p.Stderr = p
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// TestGateInterrupted leaves no process and no directory of a run behind.
func TestGateInterrupted(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{"interrupted": syscall.SIGINT, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			p := startGate(t)
			var children []int
			eventually(t, "both children run", func() bool {
				children = childrenOf(t, p.Process.Pid)
				return len(children) == 2
			}, p.stderr)
			if err := p.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			code := p.ended(t)
			gone(t, children)
			if signal == syscall.SIGKILL {
				return
			}
			if code != 130 {
				t.Errorf("exit %d, want 130\n%s", code, p.stderr())
			}
			nothingLeft(t, p.tmp)
		})
	}
}
