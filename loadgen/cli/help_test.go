package cli_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"ackmark/profiles"
)

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{}, {"run"}, {"sweep"}, {"report"}, {"compare"}, {"gate"}, {"profiles"}, {"profiles", "list"}, {"profiles", "show"}, {"profiles", "check"}, {"profiles", "keys"}, {"profiles", "metrics"}, {"version"}, {"selftest"}, {"stub"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			o := loadgen(append(args, "--help")...)
			if o.code != 0 || o.err != "" {
				t.Errorf("exit %d, stderr %q", o.code, o.err)
			}
			for _, section := range []string{"Usage:", "Examples:", "Exit codes:", "130"} {
				if !strings.Contains(o.out, section) {
					t.Errorf("no %q in\n%s", section, o.out)
				}
			}
			for line := range strings.Lines(o.out) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
					t.Errorf("%d columns: %s", n, line)
				}
			}
		})
	}
}

func TestProfiles(t *testing.T) {
	list := loadgen("profiles", "list")
	for _, p := range profiles.List() {
		if !strings.Contains(list.out, p.Name) {
			t.Errorf("profiles list lacks %s", p.Name)
		}
		if o := loadgen("profiles", "check", p.Name); o.code != 0 {
			t.Errorf("%s: exit %d, %s", p.Name, o.code, o.err)
		}
	}
	src, err := profiles.Load("smoke")
	if err != nil {
		t.Fatal(err)
	}
	if o := loadgen("profiles", "show", "smoke"); o.out != string(src.YAML()) {
		t.Error("profiles show prints something else than the profile")
	}
	if o := loadgen("profiles", "keys"); !strings.Contains(o.out, "clients.ack.every") {
		t.Error("profiles keys lacks clients.ack.every")
	}
	o := loadgen("profiles", "metrics")
	for _, m := range []string{"redelivered_per_crash", "live", "cpu "} {
		if !strings.Contains(o.out, "\n"+m) {
			t.Errorf("profiles metrics lacks %s", m)
		}
	}
	for line := range strings.Lines(o.out) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestVersion(t *testing.T) {
	if o := loadgen("version"); o.code != 0 || !strings.HasPrefix(o.out, "loadgen ") {
		t.Errorf("exit %d, %q", o.code, o.out)
	}
}

func TestRefserverIsHandedOn(t *testing.T) {
	if o := loadgen("refserver", "version"); o.code != 0 || !strings.HasPrefix(o.out, "refserver ") {
		t.Errorf("exit %d, %q, %q", o.code, o.out, o.err)
	}
	if o := loadgen("--help"); strings.Contains(o.out, "  refserver ") {
		t.Error("the hidden command is in the help")
	}
}
