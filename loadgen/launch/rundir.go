package launch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxSocketPath is the longest path of a unix socket that we use. The kernel
// takes 107 bytes; other systems take 103.
const maxSocketPath = 103

const (
	runPrefix  = "run-"
	lockName   = "lock"
	socketName = "redis.sock"
)

// bases are the directories that run directories may be in: below the
// temporary directory, or below /tmp where its path is too long for a socket.
func bases() []string {
	dir := "ackmark-" + strconv.Itoa(os.Getuid())
	preferred := filepath.Join(os.TempDir(), dir)
	if abs, err := filepath.Abs(preferred); err == nil { // Redis changes its directory
		preferred = abs
	}
	if short := filepath.Join("/tmp", dir); short != preferred {
		return []string{preferred, short}
	}
	return []string{preferred}
}

func socketFits(base string) bool {
	return len(filepath.Join(base, runPrefix+"4294967295", socketName)) <= maxSocketPath
}

// runDir is a directory of one run, locked while its owner lives.
type runDir struct {
	path string
	lock *os.File
}

// newRunDir makes and locks a directory.
func newRunDir() (*runDir, error) {
	all := bases()
	base := all[0]
	if !socketFits(base) {
		base = all[len(all)-1]
	}
	// Making a directory and locking it are two steps; a sweep in between would
	// take it for abandoned. The base's own lock keeps sweeps out.
	baseLock, err := lockBase(base)
	if err != nil {
		return nil, err
	}
	defer baseLock.Close()
	path, err := os.MkdirTemp(base, runPrefix)
	if err != nil {
		return nil, fmt.Errorf("making a run directory: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = flock(lock, unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("locking the run directory %s: %w", path, err), os.RemoveAll(path))
	}
	return &runDir{path: path, lock: lock}, nil
}

// remove deletes the directory, lets go of its lock, and removes the base when
// this was the last run in it.
func (d *runDir) remove() error {
	base := filepath.Dir(d.path)
	baseLock, err := lockBase(base)
	if err != nil {
		return err
	}
	defer baseLock.Close()
	if err := errors.Join(os.RemoveAll(d.path), d.lock.Close(), removeEmptyBase(base)); err != nil {
		return fmt.Errorf("removing the run directory: %w", err)
	}
	return nil
}

// ensureBase makes the base directory, or checks that an existing one is ours:
// the temporary directory is everybody's, and somebody else could have made it.
func ensureBase(base string) error {
	if err := os.MkdirAll(base, 0o700); err != nil {
		return fmt.Errorf("making the directory for runs: %w", err)
	}
	var st unix.Stat_t
	if err := unix.Lstat(base, &st); err != nil {
		return fmt.Errorf("looking at %s: %w", base, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Getuid() || st.Mode&0o022 != 0 {
		return fmt.Errorf("%s isn't a directory that only user %d can write; remove it or set TMPDIR to another place", base, os.Getuid())
	}
	return nil
}

// lockBase makes the base directory if need be and locks it. The last run to
// end removes base and lock file; whoever waited for that lock then holds a file
// that isn't there any more, and tries again.
func lockBase(base string) (*os.File, error) {
	const tries = 1000 // so that a path that can't be made ends the loop
	for try := 1; ; try++ {
		path := filepath.Join(base, lockName)
		var f *os.File
		err := ensureBase(base)
		if err == nil {
			f, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		}
		if errors.Is(err, os.ErrNotExist) && try < tries {
			continue // removed since
		}
		if err != nil {
			return nil, fmt.Errorf("locking %s: %w", base, err)
		}
		if err := flock(f, unix.LOCK_EX); err != nil {
			return nil, errors.Join(fmt.Errorf("locking %s: %w", base, err), f.Close())
		}
		held, herr := f.Stat()
		there, terr := os.Stat(path)
		if herr == nil && terr == nil && os.SameFile(held, there) {
			return f, nil
		}
		f.Close()
	}
}

// removeEmptyBase removes a base that holds nothing but its lock. The base is
// locked by the caller.
func removeEmptyBase(base string) error {
	entries, err := os.ReadDir(base)
	if err != nil || len(entries) != 1 || entries[0].Name() != lockName {
		return err
	}
	if err := os.Remove(filepath.Join(base, lockName)); err != nil {
		return err
	}
	// With the lock gone another run may move in at once: its base stays.
	if err := os.Remove(base); err != nil && !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Sweep removes the run directories whose owner is gone: those whose lock can
// be taken. It returns the directories removed; an error says what couldn't be.
func Sweep() (removed []string, err error) {
	for _, base := range bases() {
		if _, statErr := os.Lstat(base); errors.Is(statErr, os.ErrNotExist) {
			continue
		}
		got, sweepErr := sweepBase(base)
		removed = append(removed, got...)
		err = errors.Join(err, sweepErr)
	}
	return removed, err
}

func sweepBase(base string) (removed []string, err error) {
	baseLock, err := lockBase(base)
	if err != nil {
		return nil, err
	}
	defer baseLock.Close()
	entries, err := os.ReadDir(base)
	if err != nil {
		return nil, fmt.Errorf("sweeping %s: %w", base, err)
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), runPrefix) {
			continue
		}
		path := filepath.Join(base, e.Name())
		gone, sweepErr := sweepRun(path)
		if gone {
			removed = append(removed, path)
		}
		err = errors.Join(err, sweepErr)
	}
	return removed, errors.Join(err, removeEmptyBase(base))
}

func sweepRun(path string) (gone bool, err error) {
	lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return false, fmt.Errorf("sweeping %s: %w", path, err)
	}
	defer lock.Close()
	if err := flock(lock, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			return false, nil // its owner lives
		}
		return false, fmt.Errorf("sweeping %s: %w", path, err)
	}
	purged := purgeNoted(path)
	if err := os.RemoveAll(path); err != nil {
		return false, errors.Join(fmt.Errorf("sweeping: %w", err), purged)
	}
	return true, purged
}
