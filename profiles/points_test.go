package profiles

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func axis(t *testing.T, text string) Axis {
	t.Helper()
	a, err := ParseAxis(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func pointNames(settings []Setting) string {
	var out []string
	for _, s := range settings {
		out = append(out, s.Name)
	}
	return strings.Join(out, "; ")
}

func TestPoints(t *testing.T) {
	s := mustParse(t, sweepable)
	settings, err := s.Points(s.Vary(), []string{"traffic.group.rate=5/s"})
	if err != nil {
		t.Fatal(err)
	}
	if got := pointNames(settings); got != "every=1 interval=50ms; every=1 interval=1s; every=10 interval=50ms; every=10 interval=1s" {
		t.Errorf("points %s", got)
	}
	last := settings[3]
	point := map[string]string{"clients.ack.every": "10", "clients.ack.interval": "1s"}
	if !reflect.DeepEqual(last.Point, point) || !reflect.DeepEqual(last.Set, point) {
		t.Errorf("point %v, set %v", last.Point, last.Set)
	}
	if p := last.Profile; p.Clients.Ack.Every != 10 || p.Clients.Ack.Interval.String() != "1s" || p.Traffic.Group.Rate != 5 {
		t.Errorf("ack %+v, rate %s", p.Clients.Ack, p.Traffic.Group.Rate)
	}
	// By hand, without positions: as a program does.
	byHand, err := s.Points([]Axis{{Key: "clients.pull.page", Values: []string{"7", "8"}}}, nil)
	if err != nil || pointNames(byHand) != "page=7; page=8" || byHand[1].Profile.Clients.Pull.Page != 8 {
		t.Errorf("%s, %v", pointNames(byHand), err)
	}
	none, err := s.Points(nil, nil)
	if err != nil || len(none) != 1 || none[0].Name != "t" || none[0].Point != nil || none[0].Set == nil {
		t.Errorf("without axes %+v, %v; want what Resolve gives", none, err)
	}
}

func TestPointsOfVariants(t *testing.T) {
	const traffic = head + "clients: {online: 50%}\ntraffic: {group: {}, login: {}}\n"
	every := axis(t, "clients.ack.every=2,3")
	one := mustParse(t, traffic+`variants:
  - {name: steady, set: {clients.ack.policy: count}}
  - {name: crash, crash_of: steady, set: {clients.crash.between: mid-sync}, expect: ["crashes > 0"]}`)
	settings, err := one.Points([]Axis{every}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := pointNames(settings); got != "every=2; every=2 · crash; every=3; every=3 · crash" {
		t.Errorf("points %s", got)
	}
	crash := settings[3]
	if crash.CrashOf != "every=3" || crash.Expect[0] != "crashes > 0" || crash.Profile.Clients.Ack.Every != 3 {
		t.Errorf("crash %+v", crash)
	}
	if want := map[string]string{"clients.ack.policy": "count", "clients.ack.every": "3", "clients.crash.between": "mid-sync"}; !reflect.DeepEqual(crash.Set, want) {
		t.Errorf("set %v, want %v", crash.Set, want)
	}

	// A flag goes over the variants, and says so.
	several := mustParse(t, traffic+`variants:
  - {name: five, set: {clients.ack.every: 5}}
  - {name: plain}
  - {name: crash, crash_of: five, set: {clients.crash.between: mid-sync}}`)
	if settings, err = several.Points([]Axis{every}, nil); err != nil {
		t.Fatal(err)
	}
	if got := pointNames(settings[:3]); got != "every=2 · five; every=2 · plain; every=2 · crash" || settings[2].CrashOf != "every=2 · five" {
		t.Errorf("points %s, crash of %s", got, settings[2].CrashOf)
	}
	if w := settings[0].Warnings; len(w) != 1 || !strings.Contains(w[0], "variant five sets clients.ack.every to 5, the flag overrides it") {
		t.Errorf("warnings %q", w)
	}
}

func TestPointNames(t *testing.T) {
	for _, tt := range []struct{ axes, want string }{
		{"traffic.group.rate=5/s;traffic.direct.rate=6/s", "group.rate=5/s direct.rate=6/s"},
		{"traffic.group.bytes=1KiB;clients.ack.every=2", "bytes=1KiB every=2"},
		{"clients.send.timeout=1s;clients.ack.interval=1s;clients.ack.every=2", "timeout=1s interval=1s every=2"},
		{"faults=[{kind: reset, at: 1s}]", "faults=#1"},
	} {
		var axes []Axis
		for text := range strings.SplitSeq(tt.axes, ";") {
			axes = append(axes, axis(t, text))
		}
		settings, err := mustParse(t, sweepable).Points(axes, nil)
		if err != nil || pointNames(settings) != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.axes, pointNames(settings), err, tt.want)
		}
	}
}

func TestImpossiblePoints(t *testing.T) {
	s := mustParse(t, sweepable)
	axes := []Axis{axis(t, "clients.ack.every=10,300"), axis(t, "clients.window=20,256,400")}
	_, err := s.Points(axes, nil)
	if err == nil {
		t.Fatal("N larger than the window went through")
	}
	const first = "--vary clients.ack.every=10,300: clients.ack.every is 300, larger than clients.window 20: the N-th delivery could never arrive (point every=300 window=20); at most 20, or a larger clients.window"
	if lines := strings.Split(err.Error(), "\n"); len(lines) != 2 || lines[0] != first {
		t.Errorf("got  %s\nwant %s", err, first)
	}
	settings, left, err := s.PossiblePoints(axes, nil)
	if err != nil || pointNames(settings) != "every=10 window=20; every=10 window=256; every=10 window=400; every=300 window=400" || len(left) != 2 {
		t.Errorf("%s, left out %v, %v", pointNames(settings), left, err)
	}
	if _, _, err := s.PossiblePoints([]Axis{axis(t, "clients.ack.every=300")}, nil); err == nil {
		t.Error("no possible point, and no error")
	}
}

func TestPointProblems(t *testing.T) {
	s := mustParse(t, sweepable)
	many := make([]string, 300)
	for i := range many {
		many[i] = fmt.Sprint(i + 1)
	}
	list := strings.Join(many[:200], ",")
	for _, tt := range []struct {
		name string
		axes []Axis
		sets []string
		want string
	}{
		{"set and varied", s.Vary(), []string{"clients.ack.every=3"}, "--set clients.ack.every=3: clients.ack.every is varied; leave it out here, or out of vary"},
		{"varied twice", []Axis{axis(t, "clients.ack.every=3"), axis(t, "clients.ack.every=4")}, nil, "--vary clients.ack.every=4: clients.ack.every is varied twice; one list of all its values"},
		{"by hand", []Axis{{Key: "clients.ack.every", Values: []string{"x"}}}, nil, `--vary clients.ack.every=x: clients.ack.every: "x" is not a whole number; a whole number, e.g. 10`},
		{"too many", []Axis{axis(t, "clients.ack.every="+list), axis(t, "clients.pull.page="+list)}, nil, "--vary clients.pull.page=" + list + ": the axes make more than 10000 points; fewer values or axes"},
	} {
		if _, err := s.Points(tt.axes, tt.sets); err == nil || err.Error() != tt.want {
			t.Errorf("%s: got  %v\nwant %s", tt.name, err, tt.want)
		}
	}
}

// The shipped sweeps have no impossible points.
func TestShippedPoints(t *testing.T) {
	for _, name := range names() {
		s, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Points(s.Vary(), nil); err != nil {
			t.Error(err)
		}
	}
}
