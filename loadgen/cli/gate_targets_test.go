package cli_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ackmark/refserver/server"
	"ackmark/results/gate"
)

// targetOf starts a server with secrets of its own, on a Redis of its own, that a
// test then gives to loadgen: its address and the files of its secrets.
func targetOf(t *testing.T, name string) (addr, token, admin string) {
	t.Helper()
	r, dir := redisOf(t), t.TempDir()
	token, admin = filepath.Join(dir, "token"), filepath.Join(dir, "admin")
	for _, path := range []string{token, admin} {
		if err := os.WriteFile(path, []byte("secret-of-"+filepath.Base(path)+"-"+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	addrFile, done := filepath.Join(dir, "addr"), make(chan int, 1)
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		done <- server.Run(ctx, []string{"serve", "--redis", r.URL(), "--listen", "127.0.0.1:0", "--addr-file", addrFile,
			"--token-secret-file", token, "--admin-secret-file", admin, "--log-level", "error"}, strings.NewReader(""), io.Discard, os.Stderr)
	}()
	t.Cleanup(func() {
		stop()
		if code := <-done; code != 0 {
			t.Errorf("the server %s ended with %d", name, code)
		}
	})
	eventually(t, "the server is ready", func() bool {
		b, err := os.ReadFile(addrFile)
		addr = strings.TrimSpace(string(b))
		return err == nil && addr != ""
	}, func() string { return "" })
	return addr, token, admin
}

// TestGateTargets holds two servers that run already against each other, each
// with its own secrets, and says what of them can't be compared.
func TestGateTargets(t *testing.T) {
	candidate, token, admin := targetOf(t, "candidate")
	reference, itsToken, itsAdmin := targetOf(t, "reference")
	out := filepath.Join(t.TempDir(), "out")
	o, rep := gateRun(t, pairArgs("--variant", "cursor", "--out", out,
		"--target", candidate, "--token-secret-file", token, "--admin-secret-file", admin,
		"--against-target", reference, "--against-token-secret-file", itsToken, "--against-admin-secret-file", itsAdmin)...)
	tooBusyForPairs(t, o, rep)
	if o.code != 0 || rep.Mode != gate.AgainstBuild || rep.Pairs != 3 || rep.Candidate != candidate || rep.Reference != reference {
		t.Errorf("exit %d, %d pairs of %q and %q\n%s%s", o.code, rep.Pairs, rep.Candidate, rep.Reference, o.out, o.err)
	}
	if len(checks(rep, "requests_per_login", gate.Passed)) != 1 || len(checks(rep, "Redis commandstats", gate.Reported)) != 1 {
		t.Errorf("counts of clients should be held, those of Redis not:\n%s", o.out)
	}
	if notes := strings.Join(rep.Notes, "\n"); !strings.Contains(notes, "both servers are targets") || !strings.Contains(notes, "were not compared") {
		t.Errorf("what can't be compared isn't said: %q", notes)
	}
	if runs, _ := filepath.Glob(filepath.Join(out, "runs", "*-cursor-reference.json")); len(runs) < 3 {
		t.Errorf("runs of the reference kept: %v", runs)
	}
}
