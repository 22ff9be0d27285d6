package cli_test

import (
	"strings"
	"testing"
)

// TestCrashClients crashes 6 of 12 clients five times a second, with no login
// traffic and with acks so seldom that most of what they had received comes
// again. Nothing is lost, what was persisted isn't shown twice, and the books
// agree: those of the policy, of the server and of Redis.
func TestCrashClients(t *testing.T) {
	for _, transport := range []string{"websocket", "http"} {
		t.Run(transport, func(t *testing.T) {
			o := run(t, short("faults=[{kind: crash-clients, at: 100ms, every: 200ms, down: 50ms, share: 50%}]",
				"clients.ack.every=20", "clients.ack.interval=5s", "clients.transport="+transport, "clients.poll=20ms", "traffic.group.rate=100/s")...)
			r := trusted(t, o)
			x := &r.Runs[0]
			a := x.Audit
			if a.Lost+a.Pending+a.ShownTwice+a.OutOfOrder+a.NotShown+a.AckedNotReceived != 0 || a.Redelivered == 0 {
				t.Errorf("audit %+v; want redeliveries, and nothing lost, shown twice, out of order or left", a)
			}
			figures(t, x, map[string]float64{"crashes": 30, "redelivered_per_crash": float64(a.Redelivered) / 30})
			for _, name := range []string{"logins", "requests_per_login", "crash_dropped"} { // nobody logs in but who crashed
				if _, ok := x.Metrics[name]; ok {
					t.Errorf("%s is given where no logins are measured", name)
				}
			}
			for _, name := range []string{"ack_requests_predicted_per_s", "ack_requests_predicted_error"} {
				if v, ok := x.Metrics[name]; !ok || v != nil {
					t.Errorf("%s is %v; no closed form speaks of crashes", name, v)
				}
			}
			if x.Acks.Replayed == nil || *x.Acks.Replayed != x.Acks.Requests {
				t.Errorf("%d ack requests, replayed %v", x.Acks.Requests, x.Acks.Replayed)
			}
			if !strings.Contains(warned(x), "clients crashed: 30;") {
				t.Errorf("warnings %q; want 30 crashes", x.Warnings)
			}
			agreed(t, x)
		})
	}
}

// TestCrashClientsBesideLogins crashes clients that are connected while others
// log in: those who come back are logins, too.
func TestCrashClientsBesideLogins(t *testing.T) {
	o := run(t, short("faults=[{kind: crash-clients, at: 500ms, down: 100ms, share: 100%}]",
		"clients.online=50%", "traffic.login.rate=20/s", "traffic.login.arrivals=uniform")...)
	x := &trusted(t, o).Runs[0]
	// 6 log in, at 20/s in 300 ms, so that all 12 are there to crash
	figures(t, x, map[string]float64{"crashes": 12, "logins": 6 + 12})
	if a := x.Audit; a.Lost+a.ShownTwice+a.OutOfOrder != 0 {
		t.Errorf("audit %+v", a)
	}
	agreed(t, x)
}
