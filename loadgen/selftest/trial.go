package selftest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"ackmark/loadgen/engine"
	"ackmark/loadgen/launch"
	"ackmark/profiles"
	"ackmark/results"
)

// Trial is one run against the stub: what the generator reports, and the truth.
type Trial struct {
	Run   results.Run
	Truth Truth
	Case  Case
}

// Truth is what the stub says it caused. Delays are those of the measure phase,
// counts those of its whole life.
type Truth struct {
	Sends       uint64        `json:"sends"`
	Lost        []any         `json:"lost"`
	Again       []any         `json:"again"`
	StoredTwice []any         `json:"stored_twice"`
	ShownTwice  []any         `json:"shown_twice"`
	Swapped     []any         `json:"swapped"`
	Late        []any         `json:"late"`
	Renumbered  []any         `json:"renumbered"`
	Stalled     time.Duration `json:"stalled_ns"`
	LatenessP99 time.Duration `json:"lateness_p99_ns"`
	Delays      struct {
		Count   int64         `json:"count"`
		Dropped int64         `json:"dropped"`
		P50     time.Duration `json:"p50_ns"`
		P90     time.Duration `json:"p90_ns"`
		P99     time.Duration `json:"p99_ns"`
		P999    time.Duration `json:"p999_ns"`
	} `json:"delays"`
}

// profile of all cases: 20 devices in 40 small groups, so that a message makes
// three deliveries, which are ready at different times, and no burst hides what
// is measured behind the generator's own work.
const profile = `profile: ackmark/v1
name: selftest
about: The generator against a stub with known behaviour.
seed: %d
population: {users: 20, groups: {count: 40, members: 4}}
clients:
  ack: {policy: count-or-interval, every: 10, interval: 50ms}
traffic:
  group: {rate: %d/s, arrivals: uniform, bytes: 100}
phases: {warmup: 1s, measure: %v, drain: %v}
`

// try measures once.
func (cfg *Config) try(ctx context.Context, c Case, attempt int, who string) (*Trial, error) {
	src, err := profiles.Parse("selftest", fmt.Appendf(nil, profile, attempt, c.Rate, c.Measure, c.Drain))
	if err != nil {
		return nil, err
	}
	settings, err := src.Resolve(nil)
	if err != nil {
		return nil, err
	}
	l, err := launch.New()
	if err != nil {
		return nil, err
	}
	t, err := cfg.against(ctx, l, c, src, settings, attempt, who)
	return t, errors.Join(err, l.Close())
}

func (cfg *Config) against(ctx context.Context, l *launch.Launcher, c Case, src *profiles.Source, settings []profiles.Setting, attempt int, who string) (*Trial, error) {
	tokens, admin := secret(), secret()
	args := append(append([]string(nil), cfg.StubArgs...), "--seed", fmt.Sprint(attempt))
	stub, err := l.Server(ctx, launch.ServerOptions{
		Executable: cfg.Executable, Args: append(args, c.Stub...),
		Env: []string{"ACKMARK_TOKEN_SECRET=" + tokens, "ACKMARK_ADMIN_SECRET=" + admin},
	})
	if err != nil {
		return nil, err
	}
	var began time.Time
	result, err := engine.Run(ctx, engine.Config{
		Source: src, Settings: settings, Target: stub.Addr(), TokenSecret: tokens, AdminSecret: admin, ToolVersion: cfg.ToolVersion,
		Histograms: func(h engine.RunHistograms) error { began = h.Began; return nil },
		Progress: func(p engine.Progress) {
			if p.Kind == engine.PhaseBegan {
				cfg.Progress(who+": "+p.Phase, false)
			}
		},
	})
	switch {
	case err != nil:
		return nil, err
	case result.Interrupted:
		return nil, context.Cause(ctx)
	case len(result.Runs) != 1:
		return nil, fmt.Errorf("the engine made %d runs of one variant", len(result.Runs))
	}
	t := &Trial{Run: result.Runs[0], Case: c}
	at := func(ms float64) time.Time { return began.Add(time.Duration(ms * float64(time.Millisecond))) }
	for _, p := range t.Run.Phases {
		if p.Name == "measure" {
			t.Truth, err = fetch(ctx, stub.URL(), admin, at(p.StartMs), at(p.EndMs))
		}
	}
	return t, err
}

// fetch asks the stub. A send is read some 0.1 ms after its intended time, and
// with even spacing the phase begins and ends half way between two sends, so
// both sides speak of the same messages.
func fetch(ctx context.Context, url, admin string, from, to time.Time) (t Truth, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet,
		fmt.Sprintf("%s/v1/admin/truth?from=%d&to=%d", url, from.UnixNano(), to.UnixNano()), nil)
	if err != nil {
		return t, fmt.Errorf("asking the stub: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+admin)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return t, fmt.Errorf("asking the stub: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return t, fmt.Errorf("asking the stub: it answered %s", res.Status)
	}
	if err := json.NewDecoder(res.Body).Decode(&t); err != nil {
		return t, fmt.Errorf("asking the stub: %w", err)
	}
	return t, nil
}

// onTime is what a machine with cores to spare stays below at this load, in µs:
// 1 % of the shortest percentile is 400.
var onTime = []struct {
	metric, what string
	limit        float64
}{
	{"schedule_lag.p99", "sends left %s late at p99", 400},
	{"schedule_lag.p999", "sends left %s late at p99.9", 1500},
	{"hiccup.p99", "the generator woke %s late at p99", 2000}, // the runtime's timers have a grain of 1 ms
	{"hiccup.p999", "the generator woke %s late at p99.9", 4000},
}

const (
	waitOnTime     = 250.0 // µs, mean wait of the generator's threads for a core
	latenessOnTime = 400 * time.Microsecond
)

// busy says why this trial can't tell 1 %: the generator or the stub was late.
func (t *Trial) busy() []string {
	var out []string
	say := func(format string, v float64) {
		out = append(out, fmt.Sprintf(format, results.FormatValue(results.Microseconds, v)))
	}
	for _, l := range onTime {
		if v, ok := t.Run.Value(l.metric); ok && v > l.limit {
			say(l.what, v)
		}
	}
	if v := t.Run.Health.RunQueueMeanUs; v != nil && *v > waitOnTime {
		say("it waited %s for a core on average", *v)
	}
	if t.Truth.LatenessP99 > latenessOnTime {
		say("the stub was %s late at p99", us(t.Truth.LatenessP99))
	}
	return out
}
