package cli_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"ackmark/loadgen/cli"
	"ackmark/refserver/server"
)

// asProgram makes the test binary behave as loadgen, for tests that need a
// process of its own.
const asProgram = "LOADGEN_TEST_AS_PROGRAM"

// asSpinner makes it keep a core busy until its stdin is closed.
const asSpinner = "LOADGEN_TEST_AS_SPINNER"

func TestMain(m *testing.M) {
	// The generator starts its own executable as the server: this one.
	if os.Getenv(asSpinner) != "" {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}()
		for { //nolint:staticcheck // it is meant to spin
		}
	}
	serving := len(os.Args) > 1 && (os.Args[1] == "refserver" || os.Args[1] == "stub")
	if serving || os.Getenv(asProgram) != "" {
		os.Exit(cli.Run(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, server.Main))
	}
	_ = os.Unsetenv("COLUMNS") // tests look for sentences
	// fasthttp keeps the time of the Date header for as long as the process lives.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"), goleak.Cleanup(func(code int) {
		removeUnchanged()
		os.Exit(code)
	}))
}

// outcome is what a command did.
type outcome struct {
	code     int
	out, err string
	dir      string // --out
}

// loadgen runs the command line in this process.
func loadgen(args ...string) outcome {
	var out, err bytes.Buffer
	code := cli.Run(args, cli.Streams{In: bytes.NewReader(nil), Out: &out, Err: &err}, server.Main)
	return outcome{code: code, out: out.String(), err: err.String()}
}

// run runs `loadgen run` with a directory of its own and a temporary directory
// of its own, so that what is left behind shows.
func run(t *testing.T, args ...string) outcome {
	t.Helper()
	needRedis(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	dir := filepath.Join(t.TempDir(), "out")
	o := loadgen(append([]string{"run"}, append(args, "--out", dir)...)...)
	o.dir = dir
	nothingLeft(t, tmp)
	return o
}

// short makes a profile small: a few users, no warm-up, one second.
func short(more ...string) []string {
	args := []string{"smoke"}
	for _, set := range append([]string{
		"population.users=12", "population.groups.members=12", "phases.warmup=0s", "phases.measure=1s",
		"traffic.group.rate=30/s", "traffic.direct.rate=20/s",
	}, more...) {
		args = append(args, "--set", set)
	}
	return args
}

// needRedis skips where there is no redis-server, but never in CI.
func needRedis(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("redis-server is not in PATH, and CI=true: this test must run")
		}
		t.Skip("redis-server is not in PATH; not checked: loadgen run on a real Redis")
	}
}

// nothingLeft checks that no run directory is left in a temporary directory.
func nothingLeft(t *testing.T, tmp string) {
	t.Helper()
	for _, pattern := range []string{filepath.Join(tmp, "ackmark-*", "run-*")} {
		left, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}
