package server

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ackmark/refserver/gateway"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(perfRole); role != "" { // a child of the benchmarks
		os.Exit(perfChildMain(role))
	}
	if args := os.Getenv(serveArgs); args != "" { // a server to be killed
		os.Exit(Main(strings.Split(args, "\n"), os.Stdin, os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m,
		// fasthttp's own, see package gateway's tests.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		// os/signal starts one per process and keeps it.
		goleak.IgnoreTopFunction("os/signal.signal_recv"),
		goleak.IgnoreAnyFunction("os/signal.loop"),
	)
}

const (
	testToken = "a token secret of 32 bytes......"
	testAdmin = "an admin secret of 32 bytes....."
)

// run runs the program to its end.
func run(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = Main(args, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

func TestUsageErrors(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dev := []string{"serve", "--insecure-dev"}
	for _, c := range []struct {
		name    string
		args    []string
		env     [2]string
		message string
	}{
		{name: "unknown command", args: []string{"sevre"}, message: `unknown command "sevre"`},
		{name: "unknown flag", args: []string{"serve", "--lisen", "x"}, message: "--lisen"},
		{name: "stray argument", args: append(dev, "now"), message: `"now"`},
		{name: "no secret on loopback", args: []string{"serve"}, message: "--insecure-dev"},
		{name: "no secret on every interface", args: []string{"serve", "--listen", ":0"}, message: "other machines can reach: set --token-secret-file"},
		{name: "no secret on another address", args: []string{"serve", "--listen", "192.0.2.1:0"}, message: "other machines can reach"},
		{name: "insecure-dev on every interface", args: []string{"serve", "--insecure-dev", "--listen", "0.0.0.0:0"}, message: "taken on loopback only"},
		{name: "insecure-dev and a secret", args: append(dev, "--token-secret", testToken), message: "brings its own secrets"},
		{name: "short secret", args: []string{"serve", "--token-secret", "short"}, message: "has 5 bytes"},
		{name: "one secret for both", args: []string{"serve", "--token-secret", testToken, "--admin-secret", testToken}, message: "choose two"},
		{name: "secret twice", args: []string{"serve", "--token-secret", testToken, "--token-secret-file", empty}, message: "both set"},
		{name: "empty secret file", args: []string{"serve", "--token-secret-file", empty}, message: "is empty"},
		{name: "missing secret file", args: []string{"serve", "--token-secret-file", filepath.Join(dir, "none")}, message: "no such file"},
		{name: "bad address", args: append(dev, "--listen", "localhost"), message: "HOST:PORT is right"},
		{name: "bad port", args: append(dev, "--listen", "localhost:70000"), message: "HOST:PORT is right"},
		{name: "bad Redis URL", args: append(dev, "--redis", "localhost:6379"), message: "redis://HOST:PORT"},
		{name: "bad namespace", args: append(dev, "--namespace", "a b"), message: "namespace"},
		{name: "bad duration", args: append(dev, "--ack-join", "5"), message: "--ack-join"},
		{name: "negative duration", args: append(dev, "--ack-flush", "-1s"), message: "--ack-flush"},
		{name: "bad size", args: append(dev, "--max-body", "64K"), message: "64KiB or 4MiB is right"},
		{name: "bad number", args: append(dev, "--window", "0"), message: "--window 0: from 1"},
		{name: "page above max-page", args: append(dev, "--page", "2000"), message: "--max-page 1000"},
		{name: "frame below body", args: append(dev, "--max-body", "1MiB"), message: "--max-frame 256KiB doesn't hold"},
		{name: "acks later than the retransmission", args: append(dev, "--ack-flush", "20s"), message: "isn't below --retransmit 15s"},
		{name: "bad design", args: append(dev, "--group", "cursors"), message: "cursor, copies or ids is right"},
		{name: "bad dedup", args: append(dev, "--dedup", "yes"), message: "on or off is right"},
		{name: "shared log removed on pull", args: append(dev, "--remove", "on-pull"), message: "the log is shared, it goes when all cursors have passed"},
		{name: "shared log for offline members", args: append(dev, "--store-for", "offline"), message: "one row serves all members"},
		{name: "time cursor without cursors", args: append(dev, "--group", "ids", "--cursor", "time-from"), message: "only --group cursor has one"},
		{name: "retention without a log", args: append(dev, "--group", "copies", "--retention", "5"), message: "only the shared log of --group cursor is cut"},
		{name: "small responses", args: append(dev, "--max-response", "1KiB"), message: "--max-response 1024: from 4096"},
		{name: "no friends", args: append(dev, "--max-friends", "0"), message: "--max-friends 0: from 1"},
		{name: "public profiles", args: append(dev, "--pprof", ":6060"), message: "loopback only"},
		{name: "bad log level", args: append(dev, "--log-level", "loud"), message: "debug, info, warn or error"},
		{name: "bad log format", args: append(dev, "--log-format", "xml"), message: "text or json"},
		{name: "bad variable", args: dev, env: [2]string{"ACKMARK_WINDOW", "many"}, message: "ACKMARK_WINDOW"},
		{name: "token without user", args: []string{"token", "--insecure-dev"}, message: "--user NAME"},
		{name: "token without secret", args: []string{"token", "--user", "alice"}, message: "no token secret"},
		{name: "token for a bad name", args: []string{"token", "--user", "a b", "--insecure-dev"}, message: "a b"},
		{name: "token for no time", args: []string{"token", "--user", "alice", "--ttl", "0s", "--insecure-dev"}, message: "at least 1s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.env[0] != "" {
				t.Setenv(c.env[0], c.env[1])
			}
			code, stdout, stderr := run(c.args...)
			if code != ExitUsage || !strings.Contains(stderr, c.message) || stdout != "" {
				t.Errorf("exit %d, stderr %q, stdout %q; want 2 with %q", code, stderr, stdout, c.message)
			}
			if strings.Count(stderr, "\n") != 2 || !strings.Contains(stderr, "--help") {
				t.Errorf("%q; want one line, and where help is", stderr)
			}
			if strings.Contains(stderr, testToken) {
				t.Errorf("%q repeats the secret", stderr)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{}, {"--help"}, {"serve", "--help"}, {"token", "--help"}, {"version", "--help"}} {
		code, stdout, stderr := run(args...)
		if code != ExitOK || stderr != "" || stdout == "" {
			t.Errorf("%v: exit %d, stderr %q", args, code, stderr)
		}
		for line := range strings.Lines(stdout) {
			if len(strings.TrimRight(line, "\n")) > helpWidth {
				t.Errorf("%v: wider than %d columns: %q", args, helpWidth, line)
			}
		}
	}
	_, stdout, _ := run("serve", "--help")
	for _, s := range defaultOptions().settings() {
		if !strings.Contains(stdout, "  --"+s.name+" ") && !strings.Contains(stdout, "  --"+s.name+"\n") {
			t.Errorf("serve --help doesn't explain --%s", s.name)
		}
	}
	for _, want := range []string{"(default 127.0.0.1:8490)", "(default 64KiB)", "Exit codes", "Examples", "ACKMARK_MAX_BODY"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("serve --help lacks %q", want)
		}
	}
}

func TestHelpDoesNotShowSecretsOfTheEnvironment(t *testing.T) {
	t.Setenv("ACKMARK_TOKEN_SECRET", testToken)
	if _, stdout, _ := run("serve", "--help"); strings.Contains(stdout, testToken) {
		t.Error("the help shows the secret")
	}
}

func TestTokenCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(testToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, secret string
		args         []string
		env          string
	}{
		{"flag", testToken, []string{"--token-secret", testToken}, ""},
		{"file", testToken, []string{"--token-secret-file", file}, ""},
		{"environment", testToken, nil, testToken},
		{"insecure-dev", DevSecret, []string{"--insecure-dev"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("ACKMARK_TOKEN_SECRET", c.env)
			began := time.Now()
			code, stdout, stderr := run(append([]string{"token", "--user", "alice", "--ttl", "90s"}, c.args...)...)
			if code != ExitOK {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			user, expires, err := gateway.NewTokens(c.secret, time.Now).Verify(strings.TrimSpace(stdout))
			if err != nil || user != "alice" {
				t.Errorf("%q, %v; want alice", user, err)
			}
			if left := expires.Sub(began); left < 88*time.Second || left > 92*time.Second {
				t.Errorf("valid for %s; want 90s", left)
			}
		})
	}
}

func TestVersionCommand(t *testing.T) {
	code, stdout, _ := run("version")
	if code != ExitOK || !strings.HasPrefix(stdout, "refserver ") || !strings.Contains(stdout, " go1.") {
		t.Errorf("exit %d, %q", code, stdout)
	}
}
