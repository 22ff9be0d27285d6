package profiles

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Table and structs tell the same: each key has a field of its type, each
// field a key; defaults and bounds are values of the type, within each other.
func TestSchemaIsSound(t *testing.T) {
	full := reflect.ValueOf(&Profile{Backlog: Backlog{Direct: &DirectBacklog{}, Group: &GroupBacklog{}}, Traffic: Traffic{Group: &Flow{}, Direct: &Flow{}, Login: &Login{}}, Faults: []Fault{{}}, Variants: []Variant{{}}})
	fieldTypes := map[string]string{"string": "text name choice metric", "int": "integer", "uint64": "integer", "Duration": "duration", "Rate": "rate", "Percent": "percent", "Bytes": "bytes"}
	seen := map[string]bool{}
	for _, k := range Schema() {
		if seen[k.Name] {
			t.Errorf("%s stands twice in the table", k.Name)
		}
		seen[k.Name] = true
		if k.Type == TypePlanned {
			continue
		}
		root, name := full, k.Name
		if list, field, ok := strings.Cut(k.Name, "[]."); ok {
			f, _ := fieldOf(full, list, false)
			root, name = f.Index(0), field
		}
		f, ok := fieldOf(root, name, false)
		if !ok {
			t.Errorf("%s has no field", k.Name)
			continue
		}
		if types, scalar := fieldTypes[f.Type().Name()]; scalar && !slices.Contains(strings.Fields(types), k.Type) {
			t.Errorf("%s: type %s in a field of type %s", k.Name, k.Type, f.Type())
		}
		if k.Help == "" || strings.HasSuffix(k.Help, ".") {
			t.Errorf("%s: help %q; a line without a full stop", k.Name, k.Help)
		}
		for _, text := range []string{k.Default, k.Min, k.Max} {
			if text == "" {
				continue
			}
			if _, err := k.parse(text); err != nil {
				t.Errorf("%s: default or bound %s: %v", k.Name, text, err)
			}
		}
		if _, err := k.parseType(k.Above); k.Above != "" && err != nil {
			t.Errorf("%s: bound %s: %v", k.Name, k.Above, err)
		}
		if k.Default == "" && !k.Required && slices.Contains([]string{TypeChoice, TypeInteger, TypeDuration, TypeRate, TypePercent, TypeBytes}, k.Type) {
			t.Errorf("%s has no default", k.Name)
		}
	}
	var walk func(reflect.Type, string)
	walk = func(ty reflect.Type, path string) {
		for i := range ty.NumField() {
			f := ty.Field(i)
			tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			name, fieldType := path+tag, f.Type
			if fieldType.Kind() == reflect.Pointer {
				fieldType = fieldType.Elem()
			}
			switch {
			case fieldType.Kind() == reflect.Struct:
				walk(fieldType, name+".")
			case fieldType.Kind() == reflect.Slice && fieldType.Elem().Kind() == reflect.Struct:
				walk(fieldType.Elem(), name+"[].")
			case !seen[name]:
				t.Errorf("field %s has no key", name)
			}
		}
	}
	walk(reflect.TypeFor[Profile](), "")
}

func TestWriteKeys(t *testing.T) {
	var b bytes.Buffer
	if err := WriteKeys(&b); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	golden(t, "testdata/keys.golden", b.String())
}

// The shipped profiles check clean, are commented, and are called as their file.
func TestShipped(t *testing.T) {
	files, err := filepath.Glob("*.yaml")
	if err != nil || len(files) != len(List()) {
		t.Fatalf("%d files, %d listed (%v)", len(files), len(List()), err)
	}
	for _, info := range List() {
		s, err := Load(info.Name)
		if err != nil {
			t.Error(err)
			continue
		}
		if s.Name() != info.Name {
			t.Errorf("%s.yaml is called %s", info.Name, s.Name())
		}
		if first, rest, ok := strings.Cut(s.About(), "\n"); !ok || !strings.Contains(first, "?") || rest == "" {
			t.Errorf("%s: about says the question in its first line and how to read the answer after it", info.Name)
		}
		how := regexp.MustCompile(`loadgen (run|sweep) ` + info.Name + `\s`)
		if b, _ := os.ReadFile(info.Name + ".yaml"); !bytes.HasPrefix(b, []byte("#")) || !how.Match(b) {
			t.Errorf("%s begins with a comment that says how to run it", info.Name)
		}
		settings, err := s.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, set := range settings {
			if len(set.Warnings) > 0 {
				t.Errorf("%s: %q", set.Name, set.Warnings)
			}
			for _, invariant := range []string{"lost == 0", "shown_twice == 0", "out_of_order == 0"} {
				if !slices.Contains(set.Profile.Thresholds, invariant) {
					t.Errorf("%s doesn't demand %s", info.Name, invariant)
				}
			}
		}
	}
}

// A profile of the ladder is measured in one to four minutes on two cores, of
// which start, seeding, backlog and audit take about three seconds per run.
func TestLadderFitsItsTime(t *testing.T) {
	for _, name := range []string{"ladder-direct", "ladder-group", "friend-list", "login-storm", "group-backlog", "page-size", "dedup", "churn-crash"} {
		s, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		settings, err := s.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		total := Duration(0)
		for _, set := range settings {
			total += Duration(set.Profile.Repeats) * (set.Profile.Phases.Warmup + set.Profile.Phases.Measure + Duration(3*time.Second))
		}
		if total > Duration(4*time.Minute) {
			t.Errorf("%s takes %s; at most 4m", name, total)
		}
	}
}

// What loses messages says so, and nothing else may: the crash variants of
// rungs that remove on pull, the cursor that is a time after, the cut tail. What
// may lose some, and need not, says that: a kill of a Redis that answers before it
// has written.
func TestWhoMayLose(t *testing.T) {
	for _, name := range names() {
		s, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		settings, err := s.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, set := range settings {
			p := set.Profile
			loses := p.Server.Cursor == CursorTimeAfter || p.Server.Remove == RemoveOnPull && p.Clients.Crash.Between != CrashOff ||
				slices.ContainsFunc(p.Faults, func(f Fault) bool { return f.Cut > 0 })
			if says := slices.Contains(set.Expect, "lost > 0"); says != loses {
				t.Errorf("%s, %s: expects to lose: %v, does by design: %v", name, set.Name, says, loses)
			}
			may := !loses && p.Redis.Fsync == FsyncEverysec && slices.ContainsFunc(p.Faults, func(f Fault) bool { return f.Kind == FaultKillRedis })
			if says := slices.Contains(set.Expect, "lost >= 0"); says != may {
				t.Errorf("%s, %s: says that it may lose: %v, may: %v", name, set.Name, says, may)
			}
			twice := p.Clients.Dedup == DedupNone || p.Server.Dedup == Off || p.Clients.Dedup == DedupWindow && p.Clients.DedupWindow < p.Clients.Pull.Page
			if says := slices.Contains(set.Expect, "shown_twice > 0"); says != twice {
				t.Errorf("%s, %s: expects to show twice: %v, does by design: %v", name, set.Name, says, twice)
			}
		}
	}
}

// Requests per login by formula: n messages in pages of P, of F friends.
func TestLadderRequests(t *testing.T) {
	for _, name := range []string{"ladder-direct", "friend-list", "page-size"} {
		s, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		settings, err := s.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		stated := 0
		for _, set := range settings {
			p := set.Profile
			n := p.Backlog.Direct.Share.Of(p.Population.Friends) * p.Backlog.Direct.Messages
			pages := (n + p.Clients.Pull.Page - 1) / p.Clients.Pull.Page
			requests := 0
			switch p.Clients.Pull.Mode {
			case PullPerFriend:
				requests = 1 + p.Population.Friends
			case PullCountsFirst:
				requests = 1 + p.Clients.Pull.Open.Of(n/p.Backlog.Direct.Messages)
			case PullAll:
				requests = 1
			case PullPaged:
				requests = pages + map[string]int{PullAckNone: 0, PullAckEach: n, PullAckPage: pages, PullAckNextPage: 1}[p.Clients.Pull.Ack]
			}
			for _, e := range set.Expect {
				if th, _ := ParseThreshold(e); th.Metric == "requests_per_login" {
					stated++
					if th.Value != float64(requests) {
						t.Errorf("%s, %s: expects %s, by formula %d", name, set.Name, e, requests)
					}
				}
			}
		}
		if stated == 0 {
			t.Errorf("%s states no requests per login", name)
		}
	}
}

// make bench must end within 3 minutes after the build, with start, seeding
// and audit of each run besides the phases.
func TestAckStormFitsItsTime(t *testing.T) {
	s, err := Load("ack-storm")
	if err != nil {
		t.Fatal(err)
	}
	settings, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	total := Duration(0)
	for _, set := range settings {
		total += Duration(set.Profile.Repeats) * (set.Profile.Phases.Warmup + set.Profile.Phases.Measure)
	}
	if len(settings) != 4 || total.Std().Seconds() > 150 {
		t.Errorf("%d variants take %s without start and audit; at most 150s of 180s", len(settings), total)
	}
}
