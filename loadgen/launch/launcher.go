package launch

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
)

// ErrNotOurs is returned by Kill and Restart of something that the launcher
// didn't start: a Redis or a server that was given, or the embedded store.
var ErrNotOurs = errors.New("not a process of this run")

var errClosed = errors.New("the launcher is closed; nothing can be started any more")

// Launcher owns what one run of the generator has started: children, the thread
// that forks them, and the run directory. Its methods are safe for concurrent use.
type Launcher struct {
	forker *forker
	dir    *runDir

	closeOnce sync.Once
	closeErr  error // written inside closeOnce

	mu      sync.Mutex // guards what follows
	closers []func() error
	closed  bool
	serial  int // names of log files and address files
}

// New sweeps what earlier runs left, then makes the run directory. What couldn't
// be swept is no reason not to run; Sweep tells it to whoever asks.
func New() (*Launcher, error) {
	_, _ = Sweep()
	dir, err := newRunDir()
	if err != nil {
		return nil, err
	}
	return &Launcher{forker: newForker(), dir: dir}, nil
}

// Dir is the run directory. It goes with Close.
func (l *Launcher) Dir() string { return l.dir.path }

// own registers what Close must stop. It refuses once the launcher is closed,
// so that nothing is started behind Close's back.
func (l *Launcher) own(stop func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errClosed
	}
	l.closers = append(l.closers, stop)
	return nil
}

func (l *Launcher) next() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.serial++
	return l.serial
}

// Close stops everything in reverse order of starting, removes the run
// directory, and ends the forking thread. It's for every exit path: a second
// call waits for the first and returns the same.
func (l *Launcher) Close() error {
	l.closeOnce.Do(func() { l.closeErr = l.closeAll() })
	return l.closeErr
}

func (l *Launcher) closeAll() error {
	l.mu.Lock()
	l.closed = true
	closers := l.closers
	l.mu.Unlock()

	var err error
	for i := len(closers) - 1; i >= 0; i-- {
		err = errors.Join(err, closers[i]())
	}
	l.forker.close()
	return errors.Join(err, l.dir.remove())
}

// childEnv is the generator's environment without ACKMARK_* (the settings of a
// child come from the profile, not from the user's shell), plus more.
func childEnv(more []string) []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "ACKMARK_") {
			env = append(env, kv)
		}
	}
	return append(env, more...)
}

func (l *Launcher) logPath(what string) string {
	return fmt.Sprintf("%s/%s-%d.log", l.dir.path, what, l.next())
}
