package launch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Needs of a profile, checked before anything starts.
type Needs struct {
	// Connections that are open at the same time.
	Connections int
	// LocalServer: the server runs on this machine, so it needs descriptors and
	// memory here too, and can be reached from many addresses of 127.0.0.0/8.
	LocalServer bool
	// BytesPerConnection in all processes of this machine and its kernel; 0
	// means 64 KiB with a local server and 40 KiB without: about twice what a
	// quiet connection takes, since pages and bursts come on top.
	BytesPerConnection uint64
	// Bytes that the run takes besides: population, ledger, the store.
	Bytes uint64
}

// Problem is something that the machine can't carry.
type Problem struct {
	What string // "file descriptors"
	Have uint64
	Need uint64
	Fix  string // what would be right
}

// String is one line for the user.
func (p Problem) String() string {
	return fmt.Sprintf("%s: %d needed, %d available; %s", p.What, p.Need, p.Have, p.Fix)
}

// Report is what Preflight found and did; it belongs in the result's environment.
type Report struct {
	// Files is the soft limit of file descriptors, raised where need be; Go
	// passes it on to children.
	Files uint64
	// Ports is how many ephemeral ports one source address has.
	Ports uint64
	// Sources is how many source addresses the connections need to have a port
	// each; see SourceAddr. 1 unless the server is local and ports are few.
	Sources int
	// Memory available in bytes, the control group's limit included.
	Memory   uint64
	Problems []Problem
}

// spareFiles covers logs, pipes, Redis connections, the runtime and the like.
const spareFiles = 128

// machine is what Preflight asks; tests give it a synthetic one.
type machine struct {
	root      string // of the file system
	getLimit  func() (soft, hard uint64, err error)
	setLimits func(soft, hard uint64) error
}

func thisMachine() machine {
	return machine{
		root: "/",
		getLimit: func() (uint64, uint64, error) {
			var l syscall.Rlimit
			err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l)
			return l.Cur, l.Max, err
		},
		// By package syscall, so that it knows of the change: it would
		// give children back the limit that the generator was started with.
		setLimits: func(soft, hard uint64) error {
			return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: soft, Max: hard})
		},
	}
}

// Preflight checks file descriptors, ephemeral ports and memory against what a
// profile needs, and raises the limit of descriptors. Problems in the report
// mean that the run shouldn't start; an error means that a limit couldn't be read.
func Preflight(n Needs) (Report, error) { return thisMachine().preflight(n) }

func (m machine) preflight(n Needs) (Report, error) {
	if n.Connections < 0 {
		return Report{}, fmt.Errorf("preflight: %d connections; there can't be fewer than 0", n.Connections)
	}
	var r Report
	for _, check := range []func(Needs, *Report) error{m.files, m.ports, m.memory} {
		if err := check(n, &r); err != nil {
			return r, fmt.Errorf("preflight: %w", err)
		}
	}
	return r, nil
}

// files raises the soft limit as far as the connections need it, and the hard
// one too where the user may.
func (m machine) files(n Needs, r *Report) error {
	soft, hard, err := m.getLimit()
	if err != nil {
		return fmt.Errorf("reading the limit of file descriptors: %w", err)
	}
	need := uint64(n.Connections) + spareFiles
	r.Files = soft
	if soft >= need {
		return nil
	}
	if err := m.setLimits(need, max(hard, need)); err != nil {
		r.Problems = append(r.Problems, Problem{
			What: "file descriptors", Have: hard, Need: need,
			Fix: fmt.Sprintf("raise the hard limit (ulimit -Hn %d as root, or LimitNOFILE in the unit) or use fewer users", need),
		})
		return nil
	}
	r.Files = need
	return nil
}

// ports compares the connections with the ephemeral ports of one source
// address, keeping a tenth for everybody else on the machine.
func (m machine) ports(n Needs, r *Report) error {
	text, err := m.read("proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return err
	}
	var lo, hi uint64
	if _, err := fmt.Sscan(text, &lo, &hi); err != nil || hi < lo || hi > 65535 {
		return fmt.Errorf("the range of ephemeral ports is %q; it should be two numbers", strings.TrimSpace(text))
	}
	r.Ports = hi - lo + 1
	usable := max(r.Ports*9/10, 1)
	r.Sources = int((uint64(n.Connections) + usable - 1) / usable)
	r.Sources = max(r.Sources, 1)
	if r.Sources > 1 && !n.LocalServer {
		r.Problems = append(r.Problems, Problem{
			What: "ephemeral ports", Have: usable, Need: uint64(n.Connections),
			Fix: "widen net.ipv4.ip_local_port_range, give the generator more addresses, or use fewer users",
		})
		r.Sources = 1
	}
	return nil
}

// SourceAddr is the address that connection i leaves from, so that each of
// sources addresses carries its share: 127.0.0.1, 127.0.0.2, … All of 127/8 is
// this machine, and each address has ephemeral ports of its own.
func SourceAddr(i, sources int) string {
	k := i%max(sources, 1) + 1
	return fmt.Sprintf("127.%d.%d.%d", k>>16&0xff, k>>8&0xff, k&0xff)
}

func (m machine) memory(n Needs, r *Report) error {
	have, err := m.available()
	if err != nil {
		return err
	}
	r.Memory = have
	per := n.BytesPerConnection
	if per == 0 {
		per = 40 << 10
		if n.LocalServer {
			per = 64 << 10
		}
	}
	if need := uint64(n.Connections)*per + n.Bytes; need > have {
		r.Problems = append(r.Problems, Problem{
			What: "memory in MiB", Have: have >> 20, Need: (need + 1<<20 - 1) >> 20,
			Fix: "use a larger machine or fewer users",
		})
	}
	return nil
}

// available is MemAvailable, or what the control group leaves where that's less.
func (m machine) available() (uint64, error) {
	text, err := m.read("proc/meminfo")
	if err != nil {
		return 0, err
	}
	var kib uint64
	found := false
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			_, err := fmt.Sscan(rest, &kib)
			found = err == nil
		}
	}
	if !found {
		return 0, errors.New("/proc/meminfo has no MemAvailable")
	}
	have := kib << 10
	if left, ok := m.groupLeaves(); ok {
		have = min(have, left)
	}
	return have, nil
}

// groupLeaves is what the limit of our control group (version 2), or of one
// above it, leaves; ok is false when nothing is limited.
func (m machine) groupLeaves() (left uint64, ok bool) {
	text, err := m.read("proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	var group string
	for line := range strings.Lines(text) {
		if rest, is2 := strings.CutPrefix(strings.TrimSpace(line), "0::"); is2 {
			group = rest
		}
	}
	for dir := filepath.Clean("/" + group); ; dir = filepath.Dir(dir) {
		limit, lerr := m.number("sys/fs/cgroup", dir, "memory.max") // "max" isn't a number: no limit
		used, uerr := m.number("sys/fs/cgroup", dir, "memory.current")
		if lerr == nil && uerr == nil {
			used -= min(used, m.reclaimable(dir))
			rest := limit - min(used, limit)
			if !ok || rest < left {
				left, ok = rest, true
			}
		}
		if dir == "/" {
			return left, ok
		}
	}
}

// reclaimable is the page cache that the kernel gives up before it refuses
// memory; it's counted as used.
func (m machine) reclaimable(group string) uint64 {
	text, err := m.read("sys/fs/cgroup", group, "memory.stat")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "inactive_file "); ok {
			n, _ := strconv.ParseUint(strings.TrimSpace(rest), 10, 64)
			return n
		}
	}
	return 0
}

func (m machine) number(path ...string) (uint64, error) {
	text, err := m.read(path...)
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSpace(text), 10, 64)
}

func (m machine) read(path ...string) (string, error) {
	b, err := os.ReadFile(filepath.Join(append([]string{m.root}, path...)...))
	return string(b), err
}
