package engine

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"

	"ackmark/loadgen/launch"
	"ackmark/loadgen/measure"
	"ackmark/profiles"
	"ackmark/results"
)

// Config says what to measure and on what.
type Config struct {
	Source   *profiles.Source   // the profile as it was written
	Settings []profiles.Setting // the variants to measure, resolved
	Sets     []string           // --set flags behind Settings, for the result

	RedisURL string // a Redis that runs already; empty starts one
	Embedded bool   // use the embedded store even where redis-server is in PATH

	// Target is the address of a running server. Nothing is started then; the
	// secrets have to be the server's own.
	Target      string
	TokenSecret string
	AdminSecret string

	// Executable is started as the server, with ServerArgs first; empty means
	// this executable and {"refserver", "serve"}. ServerVersion is what the
	// result says of it; empty is ToolVersion.
	Executable    string
	ServerArgs    []string
	ServerVersion string
	// OtherServer is the executable of another build, instead of those three:
	// Run finds them out with ServerOf.
	OtherServer string

	// Order is what to measure, in order. Nil is every setting as often as the
	// profile says, interleaved; empty measures nothing and judges Done alone.
	Order []Turn
	// Done are runs that were measured earlier and belong to this result too.
	// They are judged together with the new ones.
	Done []results.Run
	// Started is when the first of Done began; zero is now. Run.StartedMs counts
	// from it.
	Started time.Time
	// RunEnded takes each complete run as it ends, before the next begins, with a
	// verdict of its own: that of a measurement with just this run. An error ends
	// the measurement. May be nil.
	RunEnded func(results.Run) error

	ToolVersion string
	// LogDir is where the children's logs are copied when a run fails; empty
	// means nowhere. It must exist.
	LogDir string
	// Progress is told what happens; calls don't overlap. May be nil.
	Progress func(Progress)
	// Histograms takes the full histograms of each run as it ends. May be nil.
	Histograms func(RunHistograms) error
}

// RunHistograms are the latencies of one run for a .hlog file.
type RunHistograms struct {
	Number  int // 1, 2, … in the order of measuring
	Variant string
	Repeat  int
	Began   time.Time
	Entries []measure.LogEntry
}

// Progress is one thing to tell whoever waits.
type Progress struct {
	Run, Runs int // 1, 2, … of how many; 0 outside of runs
	Variant   string
	Repeat    int
	Phase     string
	Elapsed   time.Duration // in the phase
	Planned   time.Duration // length of the phase; 0 = not known
	// Deliveries that have arrived since the run's start.
	Deliveries int64
	// Done of Total messages, in a phase that ends with the last of them; 0 of
	// 0 in others.
	Done, Total int64
	// Note is a line of its own: a warning, a banner, the end of a run.
	Note string
	Kind ProgressKind
}

// ProgressKind tells the kinds of Progress apart.
type ProgressKind uint8

// The kinds.
const (
	PhaseBegan ProgressKind = iota // a phase has begun
	Tick                           // about every second within a phase
	Note                           // Note is to be shown
	RunEnded                       // Note says how
)

// ErrUsage marks errors that lie in what was asked for: the profile or a flag,
// not the machine.
var ErrUsage = errors.New("usage")

type usageError struct{ err error }

func (u usageError) Error() string        { return u.err.Error() }
func (u usageError) Unwrap() error        { return u.err }
func (u usageError) Is(target error) bool { return target == ErrUsage }

func usage(err error) error { return usageError{err} }

// Check finds what contradicts itself, as an ErrUsage, and fills defaults in.
func (c *Config) Check() error {
	switch {
	case c.Source == nil || len(c.Settings) == 0:
		return usage(errors.New("there is no variant to measure"))
	case c.Target != "" && (c.RedisURL != "" || c.Embedded):
		return usage(errors.New("--target names a running server, which has its own store; leave --redis and --embedded out"))
	case c.RedisURL != "" && c.Embedded:
		return usage(errors.New("--redis and --embedded name two stores; choose one"))
	case c.Target != "" && (c.TokenSecret == "" || c.AdminSecret == ""):
		return usage(errors.New("--target needs the server's secrets, to make users and their tokens: --token-secret-file and --admin-secret-file"))
	case c.OtherServer != "" && (c.Target != "" || c.Executable != ""):
		return usage(errors.New("another build's executable is a server of its own; leave the target, or the executable, out"))
	case c.Target == "" && (c.TokenSecret != "" || c.AdminSecret != ""):
		return usage(errors.New("secrets are for a server that runs already; name it with --target, or leave them out"))
	}
	if c.RedisURL != "" {
		client, err := launch.Connect(c.RedisURL) // reads the URL, connects later
		if err != nil {
			return usage(err)
		}
		client.Close()
	}
	if host, port, err := net.SplitHostPort(strings.TrimPrefix(c.Target, "http://")); c.Target != "" && (err != nil || host == "" || port == "") {
		return usage(fmt.Errorf("--target %q isn't an address; it should be HOST:PORT, such as 127.0.0.1:8490", c.Target))
	}
	for _, s := range c.Settings {
		for _, f := range s.Profile.Faults {
			if c.Target != "" && f.Kind != profiles.FaultReset && f.Kind != profiles.FaultCrashClients {
				return usage(fmt.Errorf("variant %s has the fault %s, and what runs at --target isn't ours to kill; leave --target out", s.Name, f.Kind))
			}
		}
		if killsRedis(s) && (c.RedisURL != "" || c.Embedded) {
			return usage(fmt.Errorf("variant %s has the fault %s, which needs a Redis of the run's own; leave --redis and --embedded out", s.Name, profiles.FaultKillRedis))
		}
	}
	if err := c.checkOrder(); err != nil {
		return usage(err)
	}
	if c.Executable == "" && len(c.ServerArgs) == 0 {
		c.ServerArgs = []string{"refserver", "serve"}
	}
	if c.Executable != "" { // a child runs in a directory of its own
		path, err := filepath.Abs(c.Executable)
		if err != nil {
			return usage(fmt.Errorf("the server's executable: %w", err))
		}
		c.Executable = path
	}
	if c.ServerVersion == "" {
		c.ServerVersion = c.ToolVersion
	}
	if c.Progress == nil {
		c.Progress = func(Progress) {}
	}
	return nil
}
