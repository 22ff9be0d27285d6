package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"
	"time"

	"ackmark/results/pair"
)

// The benchmarks measure processes: this test binary again, in a role, so that
// the CPU and the memory of the clients, which are here, don't count. A child
// says its address in a line, answers commands on its standard input, a line
// each, and ends with it:
//
//	mem             its memory, after a garbage collection
//	mallocs         its heap allocations so far
//	profile PATH    begins a CPU profile; without a path, ends it
//	heap PATH       writes a heap profile
const (
	perfRole   = "ACKMARK_PERF_ROLE"   // server, bare or raw
	perfRedis  = "ACKMARK_PERF_REDIS"  // URL
	perfGroups = "ACKMARK_PERF_GROUPS" // how many groups of stormSize the server has
)

// stormSize is the members of a group.
const stormSize = 500

// perfUser names a member of a group.
func perfUser(group, i int) string { return fmt.Sprintf("p%d-%d", group, i) }

func perfGroup(group int) string { return fmt.Sprintf("storm%d", group) }

// memory is what a child holds, in bytes.
type memory struct {
	Heap, Stack uint64 // live objects; stacks in use
	RSS         uint64 // as it stands, before anything is given back
	Goroutines  int
}

// child is the parent's end.
type child struct {
	tb   testing.TB
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Scanner
	addr string
}

func startChild(tb testing.TB, role, redisURL string, groups int) *child {
	tb.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), perfRole+"="+role, perfRedis+"="+redisURL, perfGroups+"="+strconv.Itoa(groups))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	c := &child{tb: tb, cmd: cmd, in: in, out: bufio.NewScanner(out)}
	tb.Cleanup(c.stop)
	c.addr = c.line()
	return c
}

func (c *child) stop() {
	_ = c.in.Close()
	if err := c.cmd.Wait(); err != nil {
		c.tb.Errorf("child: %v", err)
	}
}

func (c *child) line() string {
	if !c.out.Scan() {
		c.tb.Fatalf("the child said nothing: %v", c.out.Err())
	}
	return c.out.Text()
}

func (c *child) ask(command string) string {
	if _, err := fmt.Fprintln(c.in, command); err != nil {
		c.tb.Fatal(err)
	}
	return c.line()
}

func (c *child) cpu() time.Duration { return pair.ProcessCPU(c.cmd.Process.Pid) }

func (c *child) mallocs() uint64 {
	n, err := strconv.ParseUint(c.ask("mallocs"), 10, 64)
	if err != nil {
		c.tb.Fatal(err)
	}
	return n
}

func (c *child) memory() (m memory) {
	if err := json.Unmarshal([]byte(c.ask("mem")), &m); err != nil {
		c.tb.Fatal(err)
	}
	return m
}

// perfChildMain is the child's whole life.
func perfChildMain(role string) int {
	start := map[string]func() (addr string, stop func(), err error){"server": perfServer, "bare": bareGateway, "raw": rawGateway}[role]
	addr, stop, err := start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		return 1
	}
	defer stop()
	fmt.Println(addr)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		answer, err := obey(strings.Fields(in.Text()))
		if err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			return 1
		}
		fmt.Println(answer)
	}
	return 0
}

func obey(command []string) (answer string, err error) {
	switch command[0] {
	case "mallocs":
		return strconv.FormatUint(pair.MallocCount(), 10), nil
	case "mem":
		b, err := json.Marshal(ownMemory())
		return string(b), err
	case "heap":
		f, err := os.Create(command[1])
		if err != nil {
			return "", err
		}
		defer f.Close()
		return "ok", pprof.Lookup("heap").WriteTo(f, 0)
	case "profile":
		if len(command) == 1 {
			pprof.StopCPUProfile()
			return "ok", nil
		}
		f, err := os.Create(command[1])
		if err != nil {
			return "", err
		}
		return "ok", pprof.StartCPUProfile(f)
	}
	return "", fmt.Errorf("unknown command %q", command)
}

func ownMemory() memory {
	status, _ := os.ReadFile("/proc/self/status")
	_, after, _ := strings.Cut(string(status), "VmRSS:")
	kib, _ := strconv.ParseUint(strings.Fields(after)[0], 10, 64)
	runtime.GC()
	runtime.GC() // pools are emptied by the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return memory{Heap: m.HeapAlloc, Stack: m.StackInuse, RSS: kib << 10, Goroutines: runtime.NumGoroutine()}
}

// perfServer is the reference server with its groups.
func perfServer() (addr string, stop func(), err error) {
	groups, err := strconv.Atoi(os.Getenv(perfGroups))
	if err != nil {
		return "", nil, err
	}
	cfg := DefaultConfig()
	cfg.Listen, cfg.Redis, cfg.InsecureDev = "127.0.0.1:0", os.Getenv(perfRedis), true
	s, err := New(cfg, slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		return "", nil, err
	}
	leanHeap() // as serve does
	ctx := context.Background()
	if err := s.Start(ctx); err != nil {
		return "", nil, err
	}
	for g := range groups {
		users := make([]string, stormSize)
		for i := range users {
			users[i] = perfUser(g, i)
		}
		if err := s.svc.CreateUsers(ctx, users); err != nil {
			return "", nil, err
		}
		if _, err := s.svc.AddMembers(ctx, perfGroup(g), users); err != nil {
			return "", nil, err
		}
	}
	debug.FreeOSMemory()
	return s.Addr(), func() {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
		}
	}, nil
}
