package selftest_test

import (
	"io"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ackmark/loadgen/cli"
	"ackmark/loadgen/selftest"
)

// TestMain makes the test binary serve as the stub, which selftest starts as
// its own executable.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "stub" {
		os.Exit(cli.Run(os.Args[1:], cli.Streams{In: os.Stdin, Out: io.Discard, Err: os.Stderr}, nil))
	}
	goleak.VerifyTestMain(m)
}

func named(t *testing.T, name string) selftest.Case {
	t.Helper()
	for _, c := range selftest.Cases() {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no case %q", name)
	return selftest.Case{}
}

// TestFindsWhatWasInjected tests one case of each kind: counts are exact on any
// machine, times where it isn't too busy to tell.
func TestFindsWhatWasInjected(t *testing.T) {
	lost := named(t, "lost")
	lost.Measure = time.Second
	short := named(t, "constant 80ms")
	short.Measure = time.Second
	rep, err := selftest.Run(t.Context(), selftest.Config{Cases: []selftest.Case{lost, short}})
	if err != nil {
		t.Fatal(err)
	}
	injected := false
	for _, c := range rep.Checks {
		if !c.Timing && c.Status != selftest.OK {
			t.Errorf("%s: %s is %v, want %v", c.Case, c.What, *c.Found, c.Expected)
		}
		injected = injected || c.What == "lost" && c.Expected > 0
	}
	if !injected {
		t.Error("nothing was injected")
	}
	t.Logf("%s in %.1f s; %v", rep.Verdict, rep.Seconds, rep.Notes)
}

// TestStubThatDoesNotStart is an error, no verdict.
func TestStubThatDoesNotStart(t *testing.T) {
	c := named(t, "lost")
	c.Stub = []string{"--delay", "soon"}
	if rep, err := selftest.Run(t.Context(), selftest.Config{Cases: []selftest.Case{c}}); err == nil {
		t.Errorf("%+v, want an error", rep)
	}
}

// TestStallOfASecondInAMinute is the whole of it; the self-test has a shorter one.
func TestStallOfASecondInAMinute(t *testing.T) {
	if os.Getenv("ACKMARK_LONG") == "" {
		t.Skip("takes a minute; ACKMARK_LONG=1 runs it")
	}
	got, err := selftest.Try(t.Context(), selftest.Stall(time.Second, time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	for _, metric := range []string{"live.p999", "live_service.p999", "live.p99", "live.p50", "schedule_lag.p999"} {
		v, ok := got.Run.Value(metric)
		t.Logf("%s %v µs", metric, v)
		if metric == "live.p999" && (!ok || v < 0.9e6) {
			t.Errorf("live.p99.9 is %v µs; a stall of %v in a minute must show 0.9 s or more", v, got.Truth.Stalled)
		}
	}
}
