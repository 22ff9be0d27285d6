package launch

import (
	"os/exec"
	"runtime"
	"sync"
)

// forker starts every child from one OS thread that lives until close.
//
// Children ask the kernel for SIGKILL when their parent dies (Pdeathsig). What
// the kernel means by parent is the *thread* that forked: when that thread
// exits, the child is killed, though the process lives on. Go moves goroutines
// between threads and lets threads exit (a locked goroutine that ends takes its
// thread with it), so a child forked from just any goroutine may die at a time
// nobody understands. Hence one goroutine, locked to its thread, forks them all.
type forker struct {
	jobs chan forkJob
	done chan struct{}

	mu     sync.RWMutex // held for reading while a job is handed over
	closed bool
}

type forkJob struct {
	cmd    *exec.Cmd
	answer chan error
}

func newForker() *forker {
	f := &forker{jobs: make(chan forkJob), done: make(chan struct{})}
	go f.run()
	return f
}

func (f *forker) run() {
	defer close(f.done)
	runtime.LockOSThread()
	// Unlocked before the goroutine ends, so the thread goes back to the
	// runtime instead of exiting: a child that close left running, which
	// shouldn't be, isn't killed behind the back of whoever owns it.
	defer runtime.UnlockOSThread()
	for j := range f.jobs {
		j.answer <- j.cmd.Start()
	}
}

// start forks the command from the thread.
func (f *forker) start(cmd *exec.Cmd) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.closed {
		return errClosed
	}
	j := forkJob{cmd: cmd, answer: make(chan error, 1)}
	f.jobs <- j
	return <-j.answer
}

// close ends the thread's duty and waits for it. Children must be gone before.
func (f *forker) close() {
	f.mu.Lock()
	if !f.closed {
		f.closed = true
		close(f.jobs)
	}
	f.mu.Unlock()
	<-f.done
}
