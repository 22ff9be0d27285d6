package cli_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestErrors(t *testing.T) {
	free := func() string { // an address where nobody listens
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return l.Addr().String()
	}()
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("profile: ackmark/v1\nname: bad\nclients: {windw: 3}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	set := func(s ...string) []string {
		args := []string{"run", "smoke"}
		for _, x := range s {
			args = append(args, "--set", x)
		}
		return args
	}
	tests := []struct {
		name string
		args []string
		code int
		say  []string // all of these
	}{
		{"no command", nil, 2, []string{"no command"}},
		{"unknown command", []string{"rum"}, 2, []string{"rum"}},
		{"unknown flag", []string{"run", "smoke", "--fast"}, 2, []string{"--fast"}},
		{"no profile", []string{"run"}, 2, []string{"takes one argument"}},
		{"unknown profile", []string{"run", "smok"}, 2, []string{`"smok"`, "did you mean smoke?"}},
		{"missing file", []string{"run", "./nowhere.yaml"}, 2, []string{"nowhere.yaml", "no such file"}},
		{"unknown key", []string{"run", bad}, 2, []string{"bad.yaml:3:11: ", "windw", "window"}},
		{"bad set", set("clients.window"), 2, []string{"--set clients.window", "="}},
		{"set of an unknown key", set("clients.widnow=3"), 2, []string{"widnow", "window"}},
		{"wrong type", set("population.users=many"), 2, []string{"many"}},
		{"rate 0", set("traffic.group.rate=0/s"), 2, []string{"traffic.group.rate"}},
		{"0 members", set("population.groups.members=0"), 2, []string{"members"}},
		{"more members than users", set("population.groups.members=51"), 2, []string{"members", "51"}},
		{"N above the window", set("clients.window=5", "clients.ack.every=10"), 2, []string{"window"}},
		{"T + ack_flush not below retransmit", set("clients.ack.interval=2s", "server.ack_flush=1s", "server.retransmit=3s"), 2, []string{"retransmit"}},
		{"unknown metric", set("thresholds=lst == 0"), 2, []string{"lst", "lost"}},
		{"unknown variant", []string{"run", "ack-storm", "--variant", "every 11"}, 2, []string{`"every 11"`, `"every 10"`}},
		{"repeats 0", []string{"run", "smoke", "--repeats", "0"}, 2, []string{"repeats"}},
		{"target without secrets", []string{"run", "smoke", "--target", free}, 2, []string{"--token-secret-file"}},
		{"secrets without a target", []string{"run", "smoke", "--token-secret", "0123456789abcdef"}, 2, []string{"--target"}},
		{"secret twice", []string{"run", "smoke", "--target", free, "--token-secret", "a", "--token-secret-file", empty}, 2, []string{"--token-secret"}},
		{"empty secret file", []string{"run", "smoke", "--target", free, "--token-secret-file", empty}, 2, []string{"empty"}},
		{"target and redis", []string{"run", "smoke", "--target", free, "--redis", "redis://" + free, "--token-secret", "a", "--admin-secret", "b"}, 2, []string{"--redis"}},
		{"fault on a target", append(set("faults=[{kind: kill-server, at: 1s}]"), "--target", free, "--token-secret", "a", "--admin-secret", "b"), 2, []string{"--target"}},
		{"redis and embedded", []string{"run", "smoke", "--redis", "redis://" + free, "--embedded"}, 2, []string{"choose one"}},
		{"unreachable Redis", []string{"run", "smoke", "--redis", "redis://:secret@" + free}, 5, []string{free, "Redis"}},
		{"bad Redis URL", []string{"run", "smoke", "--redis", "http://x"}, 2, []string{"redis://"}},
		{"target down", []string{"run", "smoke", "--target", free, "--token-secret", "a", "--admin-secret", "b"}, 5, []string{free, "nobody answers"}},
		{"bad target", []string{"run", "smoke", "--target", "localhost", "--token-secret", "a", "--admin-secret", "b"}, 2, []string{"HOST:PORT"}},
		{"show without a name", []string{"profiles", "show"}, 2, []string{"takes one argument"}},
		{"show an unknown one", []string{"profiles", "show", "x"}, 2, []string{"shipped"}},
		{"check a bad one", []string{"profiles", "check", bad}, 2, []string{"bad.yaml:3:11: "}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tmp, work := t.TempDir(), t.TempDir()
			t.Setenv("TMPDIR", tmp)
			t.Chdir(work)
			o := loadgen(tt.args...)
			if o.code != tt.code {
				t.Errorf("exit %d, want %d; %s", o.code, tt.code, o.err)
			}
			for _, s := range tt.say {
				if !strings.Contains(o.err, s) {
					t.Errorf("stderr doesn't say %q:\n%s", s, o.err)
				}
			}
			if strings.Contains(o.err, "secret@") {
				t.Errorf("stderr has a password: %s", o.err)
			}
			if left, _ := os.ReadDir(work); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			nothingLeft(t, tmp)
		})
	}
}

func TestOutputThatCantBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if o := loadgen("run", "smoke", "--out", filepath.Join(file, "out")); o.code != 5 || !strings.Contains(o.err, "--out") {
		t.Errorf("exit %d, want 5: %s", o.code, o.err)
	}
}
