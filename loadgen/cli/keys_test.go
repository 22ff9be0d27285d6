package cli_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"ackmark/profiles"
	"ackmark/refserver/server"
)

// TestServerTakesWhatProfilesAllow: a server starts with the least and the largest
// value of each setting that a profile has of it.
func TestServerTakesWhatProfilesAllow(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	start := func(args ...string) string {
		var said bytes.Buffer
		args = append([]string{"serve", "--redis", "redis://127.0.0.1:1", "--token-secret", strings.Repeat("x", 40)}, args...)
		server.Run(ended, args, bytes.NewReader(nil), &said, &said)
		return said.String()
	}
	if said := start("--ack-join", "0s"); !strings.Contains(said, "--ack-join 0s: from 1µs to 1s is right") {
		t.Fatalf("a refusal isn't known: %q", said)
	}
	bounds := 0
	for _, k := range profiles.Schema() {
		name, ours := strings.CutPrefix(k.Name, "server.")
		if !ours || k.Min == "" {
			continue
		}
		values := []string{k.Min, k.Max}
		if k.Zero {
			values = append(values, "0s")
		}
		for _, v := range values {
			args := []string{"--" + strings.ReplaceAll(name, "_", "-"), v}
			if name != "retransmit" {
				args = append(args, "--retransmit", "1h") // above all that is held back
			}
			if said := start(args...); strings.Contains(said, args[0]) {
				t.Errorf("%s is in the bounds of %s, and the server says: %s", v, k.Name, said)
			}
			bounds++
		}
	}
	if bounds < 10 {
		t.Errorf("%d bounds checked; ack_flush, ack_join, retransmit, retention and dedup_for have two each", bounds)
	}
}
