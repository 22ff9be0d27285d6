package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"ackmark/loadgen/measure"
	"ackmark/results"
)

// trusted fails the test unless the run passed, or is invalid only because this
// machine was too busy for the generator to be on time.
func trusted(t *testing.T, o outcome) *results.Result {
	t.Helper()
	r, err := results.Read(o.dir)
	if err != nil {
		t.Fatalf("%v\n%s", err, o.err)
	}
	for _, reason := range r.Verdict.Reasons {
		if reason.Kind != results.ReasonHealth {
			t.Errorf("verdict %s: %s", r.Verdict.Status, reason)
		}
	}
	if want := int(r.Verdict.Status.Exit()); o.code != want {
		t.Errorf("exit code %d, the verdict %s gives %d", o.code, r.Verdict.Status, want)
	}
	return r
}

func TestSmoke(t *testing.T) {
	o := run(t, "smoke", "--set", "phases.measure=1s", "--set", "phases.warmup=500ms")
	r := trusted(t, o)
	if len(r.Runs) != 1 {
		t.Fatalf("%d runs, want 1", len(r.Runs))
	}
	a := r.Runs[0].Audit
	if a.Sends == 0 || a.Accepted != a.Sends || a.Unknown != 0 || a.Refused != 0 {
		t.Errorf("sends %d, accepted %d, unknown %d, refused %d; all should be accepted", a.Sends, a.Accepted, a.Unknown, a.Refused)
	}
	if a.Expected != a.Deliveries || a.Lost+a.Pending+a.ShownTwice+a.OutOfOrder+a.Redelivered+a.Foreign != 0 {
		t.Errorf("audit %+v; everything should have arrived once and in order", a)
	}
	var names []string
	for _, p := range r.Runs[0].Phases {
		names = append(names, p.Name)
	}
	if got := strings.Join(names, " "); got != "start seed warmup measure drain audit" {
		t.Errorf("phases %s", got)
	}
	if len(r.Runs[0].Health.Reconciliations) < 4 {
		t.Errorf("reconciliations %v; sends twice, deliveries and acks should be there", r.Runs[0].Health.Reconciliations)
	}
	if !strings.Contains(o.out, "verdict: ") || !strings.Contains(o.err, "written to "+o.dir) {
		t.Errorf("stdout %q\nstderr %q", o.out, o.err)
	}
	for _, metric := range []string{
		"deliveries_per_s", "ack_requests_replayed", "ack_requests_predicted_per_s", "redis_commands_per_delivery", "cursor_commands_per_delivery",
		"server_cpu_us_per_delivery", "redis_cpu_us_per_delivery", "generator_cpu_us_per_delivery", "server_rss_bytes", "redis_rss_bytes",
		"generator_rss_bytes", "wire_bytes_per_delivery", "writes_per_delivery", "unacked_window_mean", "live.p99", "send_service.p50",
		"live_service.p50", "fanout_first.p50", "fanout_median.p50", "fanout_last.p50", "ack_delay.p50", "schedule_lag.p99", "connect.p50",
	} {
		if _, ok := r.Runs[0].Value(metric); !ok {
			t.Errorf("no %s", metric)
		}
	}
	if x, _ := r.Runs[0].Value("redis_commands_per_send"); x != 1 {
		t.Errorf("redis_commands_per_send is %v, a send is one command", x)
	}
}

// TestCounts checks a group's arithmetic: every send to a group of G reaches
// G − 1 members, and policy each acks every delivery.
func TestCounts(t *testing.T) {
	const members = 12
	o := run(t, append(short("traffic.group.arrivals=uniform", "clients.ack.policy=each", "traffic.direct.rate=1/s", "traffic.direct.arrivals=uniform"), "--json")...)
	r := trusted(t, o)
	// Evenly spaced for one second: 30 to the group, 1 direct.
	a, run := r.Runs[0].Audit, &r.Runs[0]
	if a.Sends != 31 || a.Expected != 30*(members-1)+1 || a.Deliveries != a.Expected {
		t.Errorf("%d sends, %d expected, %d deliveries; want 31, %d and %d", a.Sends, a.Expected, a.Deliveries, 30*(members-1)+1, 30*(members-1)+1)
	}
	acks, _ := run.Value("ack_requests")
	replayed, _ := run.Value("ack_requests_replayed")
	// The sender of the last message acks it as it leaves: no delivery comes after it.
	if total, _ := run.Value("ack_requests_total"); total != float64(a.Deliveries+1) {
		t.Errorf("%v ack requests in the whole run, want one per delivery and one: %d", total, a.Deliveries+1)
	}
	if acks != replayed || run.Acks.FlushCauses["count"] != int64(acks) {
		t.Errorf("%v ack requests, %v replayed, causes %v", acks, replayed, run.Acks.FlushCauses)
	}
	fromStdout, err := results.Decode([]byte(o.out))
	if err != nil {
		t.Fatalf("--json: %v", err)
	}
	if fromStdout.ExitCode != r.ExitCode {
		t.Errorf("stdout says exit code %d, the file %d", fromStdout.ExitCode, r.ExitCode)
	}
}

// Under a count the acks of a whole run are determined, whatever the moments: each
// receiver acks every 7th delivery, and what is left when it leaves, as the sender
// does with its own messages.
func TestAcksOfAWholeRun(t *testing.T) {
	const members, every, group, direct = 12, 7, 30, 1
	o := run(t, append(short("traffic.group.arrivals=uniform", "traffic.group.senders=fixed", "traffic.direct.rate=1/s", "traffic.direct.arrivals=uniform",
		"clients.ack.policy=count", fmt.Sprintf("clients.ack.every=%d", every)), "--json")...)
	r := trusted(t, o)
	want := (members-1)*((group+every-1)/every) + 1 + direct
	if total, ok := r.Runs[0].Value("ack_requests_total"); !ok || total != float64(want) {
		t.Errorf("%v ack requests for %d sends, want %d", total, r.Runs[0].Audit.Sends, want)
	}
	if n, _ := r.Runs[0].Value("ack_bytes_total"); n < float64(10*want) || n > float64(100*want) {
		t.Errorf("%v bytes for %d ack requests", n, want)
	}
}

func TestFiles(t *testing.T) {
	o := run(t, short("repeats=2")...)
	r := trusted(t, o)
	if len(r.Runs) != 2 || r.Runs[0].Seed == r.Runs[1].Seed {
		t.Errorf("%d runs; want 2, each with a seed of its own", len(r.Runs))
	}

	var schema any
	if err := json.Unmarshal(results.Schema(results.SchemaCurrent), &schema); err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("v1.json", schema); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("v1.json")
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(o.dir, results.FileName))
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(value); err != nil {
		t.Errorf("result.json: %v", err)
	}

	logs, _ := filepath.Glob(filepath.Join(o.dir, "*.hlog"))
	if len(logs) != 2 {
		t.Fatalf("%d .hlog files, want one per run", len(logs))
	}
	f, err := os.Open(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, entries, err := measure.ReadLog(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if want := r.Runs[0].Histograms[e.Tag].Count; e.Histogram.Count() != want {
			t.Errorf(".hlog has %d samples of %s, result.json %d", e.Histogram.Count(), e.Tag, want)
		}
	}
	for _, name := range []string{"table.csv", "table.md"} {
		if b, err := os.ReadFile(filepath.Join(o.dir, name)); err != nil || !bytes.Contains(b, []byte("smoke")) {
			t.Errorf("%s: %v, %q", name, err, b)
		}
	}

	// A measurement never overwrites another.
	if again := loadgen("run", "smoke", "--out", o.dir); again.code != 2 || !strings.Contains(again.err, "exists already") {
		t.Errorf("--out of an existing directory: exit %d, %q", again.code, again.err)
	}
}

// TestKillServer kills the server in mid-run. Batches are long, so that there
// is something unacked to deliver again.
func TestKillServer(t *testing.T) {
	o := run(t, short("faults=[{kind: kill-server, at: 400ms, down: 200ms}]", "clients.ack.every=200", "clients.ack.interval=5s")...)
	r := trusted(t, o)
	a := r.Runs[0].Audit
	if a.Lost != 0 || a.ShownTwice != 0 || a.OutOfOrder != 0 || a.Expected != a.Deliveries {
		t.Errorf("audit %+v; nothing may be lost or shown twice", a)
	}
	if a.Redelivered == 0 {
		t.Error("nothing was redelivered, though nothing had been acked when the server died")
	}
	if k := r.Runs[0].Acks; k.Replayed == nil || *k.Replayed != k.Requests {
		t.Errorf("%d ack requests, replayed %v; the replay knows of lost connections and of pulls", k.Requests, k.Replayed)
	}
	if !strings.Contains(strings.Join(r.Runs[0].Warnings, "\n"), "can't be reconciled") {
		t.Errorf("warnings %q don't say that counters are lost", r.Runs[0].Warnings)
	}
}

func TestVariantsInterleave(t *testing.T) {
	o := run(t, "ack-storm", "--variant", "every 10", "--variant", "each", "--repeats", "2", "--set", "population.users=10",
		"--set", "population.groups.members=10", "--set", "phases.measure=1s", "--set", "phases.warmup=0s", "--set", "thresholds=lost == 0")
	r := trusted(t, o)
	var order []string
	for _, x := range r.Runs {
		order = append(order, x.Variant)
	}
	if got := strings.Join(order, ", "); got != "each, every 10, every 10, each" {
		t.Errorf("order %s", got)
	}
	if r.Runs[0].Audit.Sends != r.Runs[1].Audit.Sends {
		t.Error("variants of one repeat differ in what was sent")
	}
}

func TestEmbedded(t *testing.T) {
	o := run(t, append(short(), "--embedded", "--quiet")...)
	r := trusted(t, o)
	if r.Redis[0].Kind != results.Embedded || !strings.Contains(o.err, "EMBEDDED STORE") || !strings.Contains(o.out, "EMBEDDED STORE") {
		t.Errorf("store %s; the banner should be on stderr and in the table:\n%s\n%s", r.Redis[0].Kind, o.err, o.out)
	}
	if _, ok := r.Runs[0].Value("redis_cpu_us_per_delivery"); ok {
		t.Error("the embedded store has no CPU of its own")
	}
}

func TestThresholdFails(t *testing.T) {
	o := run(t, append(short(), "--set", "thresholds=deliveries > 1000000")...)
	r, err := results.Read(o.dir)
	if err != nil {
		t.Fatal(err)
	}
	if o.code == 0 {
		t.Error("exit 0 with a threshold that can't be met")
	}
	if r.Verdict.Status == results.Fail && o.code != 1 {
		t.Errorf("exit %d, want 1", o.code)
	}
}

func TestDefaultOutput(t *testing.T) {
	needRedis(t)
	t.Setenv("TMPDIR", t.TempDir())
	t.Chdir(t.TempDir())
	o := loadgen(append([]string{"run"}, short()...)...)
	made, _ := filepath.Glob("results/runs/*-smoke/result.json")
	if len(made) != 1 {
		t.Errorf("results/runs/TIME-smoke/result.json: %v\n%s", made, o.err)
	}
}
