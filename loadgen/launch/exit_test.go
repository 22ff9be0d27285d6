package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
)

func TestKilledGeneratorTakesItsChildrenAndIsSwept(t *testing.T) {
	ownTemp(t)
	cmd, st := startGenerator(t)
	for _, pid := range st.Children {
		if gone(pid) {
			t.Fatalf("child %d is gone before anything happened", pid)
		}
	}
	if removed, err := Sweep(); err != nil || slices.Contains(removed, st.Dir) {
		t.Fatalf("Sweep while the generator lives: removed %v, %v; it should leave %s", removed, err, st.Dir)
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for _, pid := range st.Children {
		eventually(t, "child dies with its generator", func() bool { return gone(pid) })
	}
	if _, err := os.Stat(st.Dir); err != nil {
		t.Fatalf("the run directory should still be there before the sweep: %v", err)
	}
	removed, err := Sweep()
	if err != nil || !slices.Contains(removed, st.Dir) {
		t.Fatalf("Sweep removed %v, %v; want %s", removed, err, st.Dir)
	}
	if _, err := os.Stat(st.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("after the sweep: %v", err)
	}
}

func TestInterruptedGeneratorLeavesNothing(t *testing.T) {
	ownTemp(t)
	cmd, st := startGenerator(t)
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	var ee *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &ee) || ee.ExitCode() != 130 {
		t.Fatalf("exit: %v; want code 130", err)
	}
	for _, pid := range st.Children {
		if !gone(pid) {
			t.Errorf("child %d still runs", pid)
		}
	}
	if _, err := os.Stat(filepath.Dir(st.Dir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("directory of runs: %v; want it gone", err)
	}
}

func TestChildrenAreInGroupsOfTheirOwn(t *testing.T) {
	l := newLauncher(t)
	s, err := l.Server(t.Context(), ServerOptions{Args: []string{"helper-server", "good"}})
	if err != nil {
		t.Fatal(err)
	}
	pgid, err := syscall.Getpgid(s.PID())
	if err != nil || pgid != s.PID() {
		t.Errorf("process group %d, %v; want its own, %d", pgid, err, s.PID())
	}
}

func TestNothingStartsAfterClose(t *testing.T) {
	l := newLauncher(t)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatalf("second Close: %v", err)
	}
	if _, err := l.Server(t.Context(), ServerOptions{Args: []string{"helper-server", "good"}}); err == nil {
		t.Error("a server was started after Close")
	}
	if _, err := os.Stat(l.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("run directory: %v; want it gone", err)
	}
}

// onDoomedThread runs f on a thread that exits right after, and returns its id:
// a goroutine that ends while locked takes its thread with it. Only the
// process's first thread stays; when it's that one, another is taken.
func onDoomedThread(f func()) (tid int) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if tid = syscall.Gettid(); tid == os.Getpid() {
			tid = onDoomedThread(f) // while this goroutine keeps the first thread
			return
		}
		f()
	}()
	<-done
	return tid
}

// If children were forked from the thread that asks for them, the kernel would
// kill this one when that thread exits.
func TestChildrenOutliveOtherThreads(t *testing.T) {
	l := newLauncher(t)
	var s *Server
	var err error
	tid := onDoomedThread(func() {
		s, err = l.Server(context.Background(), ServerOptions{Args: []string{"helper-server", "good"}})
	})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the thread has exited", func() bool {
		_, statErr := os.Stat(fmt.Sprintf("/proc/self/task/%d", tid))
		return errors.Is(statErr, os.ErrNotExist)
	})
	if s.Cause() != nil || !dialable(s.Addr()) {
		t.Errorf("the child died with a thread: %v", s.Cause())
	}
}
