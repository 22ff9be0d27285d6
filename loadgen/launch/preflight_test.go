package launch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// synthetic is a machine with 8 GiB available, 28,232 ephemeral ports, and the
// given limits of file descriptors.
type synthetic struct {
	soft, hard uint64
	mayRaise   bool // the hard limit
}

func (s *synthetic) machine(t *testing.T, files map[string]string) machine {
	t.Helper()
	root := t.TempDir()
	all := map[string]string{
		"proc/sys/net/ipv4/ip_local_port_range": "32768\t60999\n",
		"proc/meminfo":                          "MemTotal: 16777216 kB\nMemAvailable:    8388608 kB\n",
	}
	for k, v := range files {
		all[k] = v
	}
	for name, text := range all {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return machine{
		root:     root,
		getLimit: func() (uint64, uint64, error) { return s.soft, s.hard, nil },
		setLimits: func(soft, hard uint64) error {
			if hard > s.hard && !s.mayRaise {
				return os.ErrPermission
			}
			s.soft, s.hard = soft, hard
			return nil
		},
	}
}

func TestPreflight(t *testing.T) {
	const gib = 1 << 30
	tests := []struct {
		name     string
		limits   synthetic
		files    map[string]string
		needs    Needs
		want     Report // Problems compared by the words below
		problems []string
	}{
		{name: "nothing to do", limits: synthetic{1024, 4096, false}, needs: Needs{Connections: 500, LocalServer: true},
			want: Report{Files: 1024, Ports: 28232, Sources: 1, Memory: 8 * gib}},
		{name: "soft limit raised", limits: synthetic{1024, 4096, false}, needs: Needs{Connections: 2000, LocalServer: true},
			want: Report{Files: 2128, Ports: 28232, Sources: 1, Memory: 8 * gib}},
		{name: "hard limit raised by root", limits: synthetic{1024, 4096, true}, needs: Needs{Connections: 5000, LocalServer: true},
			want: Report{Files: 5128, Ports: 28232, Sources: 1, Memory: 8 * gib}},
		{name: "hard limit in the way", limits: synthetic{1024, 4096, false}, needs: Needs{Connections: 5000, LocalServer: true},
			want:     Report{Files: 1024, Ports: 28232, Sources: 1, Memory: 8 * gib},
			problems: []string{"file descriptors: 5128 needed, 4096 available; raise the hard limit (ulimit -Hn 5128"}},
		// ⌈60,000 ÷ ⌊0.9 × 28,232⌋⌉ = ⌈60,000 ÷ 25,408⌉ = 3
		{name: "ports: more addresses of this machine", limits: synthetic{1 << 20, 1 << 20, false}, needs: Needs{Connections: 60000, LocalServer: true},
			want: Report{Files: 1 << 20, Ports: 28232, Sources: 3, Memory: 8 * gib}},
		{name: "ports: another machine's server", limits: synthetic{1 << 20, 1 << 20, false}, needs: Needs{Connections: 60000},
			want:     Report{Files: 1 << 20, Ports: 28232, Sources: 1, Memory: 8 * gib},
			problems: []string{"ephemeral ports: 60000 needed, 25408 available; widen net.ipv4.ip_local_port_range"}},
		// 100,000 × 64 KiB = 6250 MiB, + 4096 MiB = 10346 MiB against 8192
		{name: "memory", limits: synthetic{1 << 20, 1 << 20, false}, needs: Needs{Connections: 100000, LocalServer: true, Bytes: 4 * gib},
			want:     Report{Files: 1 << 20, Ports: 28232, Sources: 4, Memory: 8 * gib},
			problems: []string{"memory in MiB: 10346 needed, 8192 available"}},
		{name: "memory limited by a group above, its cache not counted", limits: synthetic{1024, 4096, false},
			files: map[string]string{
				"proc/self/cgroup":                   "0::/a/b\n",
				"sys/fs/cgroup/a/b/memory.max":       "max\n",
				"sys/fs/cgroup/a/b/memory.current":   "1000\n",
				"sys/fs/cgroup/a/memory.max":         "1073741824\n",
				"sys/fs/cgroup/a/memory.current":     "805306368\n",
				"sys/fs/cgroup/a/memory.stat":        "anon 1\ninactive_file 268435456\n",
				"sys/fs/cgroup/memory.unrelated.max": "1\n",
			},
			needs: Needs{Connections: 10, BytesPerConnection: 100 << 20},
			// 1 GiB − (768 MiB − 256 MiB) = 512 MiB
			want:     Report{Files: 1024, Ports: 28232, Sources: 1, Memory: gib / 2},
			problems: []string{"memory in MiB: 1000 needed, 512 available"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.limits.machine(t, tt.files).preflight(tt.needs)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Problems) != len(tt.problems) {
				t.Fatalf("problems %v; want %v", got.Problems, tt.problems)
			}
			for i, p := range got.Problems {
				if !strings.HasPrefix(p.String(), tt.problems[i]) {
					t.Errorf("problem %q; want %q…", p, tt.problems[i])
				}
			}
			if got.Files != tt.want.Files || got.Ports != tt.want.Ports || got.Sources != tt.want.Sources || got.Memory != tt.want.Memory {
				t.Errorf("got %+v; want %+v", got, tt.want)
			}
		})
	}
}

func TestPreflightCannotRead(t *testing.T) {
	s := synthetic{1024, 4096, false}
	for name, files := range map[string]map[string]string{
		"ports":  {"proc/sys/net/ipv4/ip_local_port_range": "many"},
		"memory": {"proc/meminfo": "MemTotal: 1 kB\n"},
	} {
		if _, err := s.machine(t, files).preflight(Needs{}); err == nil {
			t.Errorf("%s: nonsense was accepted", name)
		}
	}
	m := s.machine(t, nil)
	m.getLimit = func() (uint64, uint64, error) { return 0, 0, errors.New("no") }
	if _, err := m.preflight(Needs{}); err == nil {
		t.Error("an unreadable limit was accepted")
	}
	if _, err := m.preflight(Needs{Connections: -1}); err == nil {
		t.Error("-1 connections were accepted")
	}
}

func TestPreflightOnThisMachine(t *testing.T) {
	r, err := Preflight(Needs{Connections: 10, LocalServer: true})
	if err != nil || len(r.Problems) != 0 || r.Files < 138 || r.Memory == 0 {
		t.Errorf("report %+v, %v; 10 connections should be possible anywhere", r, err)
	}
}

func TestSourceAddr(t *testing.T) {
	for _, tt := range []struct {
		i, sources int
		want       string
	}{
		{0, 1, "127.0.0.1"}, {7, 1, "127.0.0.1"}, {1, 3, "127.0.0.2"}, {3, 3, "127.0.0.1"},
		{254, 300, "127.0.0.255"}, {255, 300, "127.0.1.0"}, {5, 0, "127.0.0.1"},
	} {
		if got := SourceAddr(tt.i, tt.sources); got != tt.want {
			t.Errorf("SourceAddr(%d, %d) = %s; want %s", tt.i, tt.sources, got, tt.want)
		}
	}
}
