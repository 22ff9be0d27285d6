package profiles

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

const sweepable = head + `
clients: {ack: {policy: count-or-interval}}
traffic: {group: {}}
vary: {clients.ack.every: [1, 10], clients.ack.interval: [50ms, 1000ms]}
choose: cpu
subject_to: ["redelivered_per_crash <= 20", "live.p99 < 200ms"]
pareto: [cpu, redelivered_per_crash]
`

func TestVary(t *testing.T) {
	s := mustParse(t, sweepable)
	axes := s.Vary()
	if len(axes) != 2 || axes[0].Key != "clients.ack.every" || !reflect.DeepEqual(axes[1].Values, []string{"50ms", "1s"}) {
		t.Fatalf("axes %+v", axes)
	}
	if at := s.At("choose"); at.String() != "t.yaml:7:9" {
		t.Errorf("choose stands at %s", at)
	}
	settings, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := settings[0].Profile
	if p.Choose != "cpu" || len(p.SubjectTo) != 2 || !reflect.DeepEqual(p.Pareto, []string{"cpu", "redelivered_per_crash"}) || p.Vary != nil {
		t.Errorf("choose %q, subject_to %q, pareto %q, vary %v", p.Choose, p.SubjectTo, p.Pareto, p.Vary)
	}
	if a, b := p.Hash(), mustResolve(t, head+"clients: {ack: {policy: count-or-interval}}\ntraffic: {group: {}}")[0].Profile.Hash(); a != b {
		t.Error("what a sweep varies and chooses is part of the hash of a setting")
	}
}

func TestVaryProblems(t *testing.T) {
	for _, tt := range []struct{ name, vary, want string }{
		{"no section", "vary: 3", `t.yaml:4:7: vary is a single value; keys in full with lists of values, e.g. {clients.ack.every: [1, 10, 100]}`},
		{"no list", "vary: {clients.ack.every: 3}", `t.yaml:4:27: clients.ack.every is a single value; a list of values, e.g. {clients.ack.every: [1, 2]}`},
		{"nothing", "vary: {clients.ack.every: []}", `t.yaml:4:8: clients.ack.every has no values; a value at least, e.g. clients.ack.every=10`},
		{"a slip", "vary: {clients.ack.evry: [1]}", `t.yaml:4:8: unknown key "clients.ack.evry"; did you mean clients.ack.every?`},
		{"a wrong value", "vary: {clients.ack.every: [1, x]}", `t.yaml:4:31: clients.ack.every: "x" is not a whole number; a whole number, e.g. 10`},
		{"twice the same", "vary: {clients.ack.interval: [1s, 1000ms]}", `t.yaml:4:35: clients.ack.interval has 1s twice; each value once`},
		{"one key twice", "vary: {clients.ack.every: [1], clients.ack.every: [2]}", `t.yaml:4:32: clients.ack.every is varied twice; keep one; the first is in line 4`},
		{"the whole profile's", "vary: {seed: [1]}", `t.yaml:4:8: seed can't be varied: it is the whole profile's; a key that a variant may set`},
		{"by a variant too", "vary: {clients.ack.every: [1]}\nvariants: [{name: a, set: {clients.ack.every: 2}}]",
			`t.yaml:5:47: variant a sets clients.ack.every, which is varied; leave it out here, or out of vary`},
		{"choose", "choose: 7!", `t.yaml:4:9: choose: "7!" is not the name of a metric; the name of a metric, e.g. cpu or live.p99`},
		{"pareto of one", "pareto: [cpu]", `t.yaml:4:9: pareto names cpu; a cost and a risk, e.g. [cpu, redelivered_per_crash]`},
		{"pareto of what", "pareto: [cpu, [1]]", `t.yaml:4:15: pareto: "" is not the name of a metric; the name of a metric, e.g. redelivered_per_crash`},
		{"subject_to", "subject_to: [live.p99]", `t.yaml:4:14: subject_to: "live.p99" compares nothing; METRIC OP VALUE, e.g. "lost == 0" or "live.p99 < 250ms"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Parse("t.yaml", []byte(head+"traffic: {group: {}}\n"+tt.vary))
			if err == nil {
				_, err = s.Points(s.Vary(), nil)
			}
			if err == nil || strings.Split(err.Error(), "\n")[0] != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestParseAxis(t *testing.T) {
	for _, tt := range []struct {
		text   string
		values []string
		err    string
	}{
		{"clients.ack.every=1, 2,050", []string{"1", "2", "50"}, ""},
		{"server.ack_flush=0s,1000ms", []string{"0s", "1s"}, ""},
		{"faults=[],[{kind: reset, at: 1s}]", []string{"[]", "[{kind: reset, at: 1s, share: 100%}]"}, ""},
		{"thresholds=lost == 0", []string{`["lost == 0"]`}, ""},
		{"clients.ack.every", nil, "--vary clients.ack.every: no '='; KEY=VALUE,VALUE, e.g. --vary clients.ack.every=1,10,100"},
		{"clients.ack.every=", nil, "--vary clients.ack.every=: clients.ack.every has no values; a value at least, e.g. clients.ack.every=10"},
		{"clients.ack.every=1,,2", nil, "--vary clients.ack.every=1,,2: clients.ack.every has no value; a whole number, e.g. 10"},
		{"clients.ack=1", nil, "--vary clients.ack=1: clients.ack is a section; name one key in full, e.g. clients.ack.policy"},
		{"repeats=1,2", nil, "--vary repeats=1,2: repeats can't be varied: it is the whole profile's; a key that a variant may set"},
		{"clients.ack.every=3,03", nil, "--vary clients.ack.every=3,03: clients.ack.every has 3 twice; each value once"},
		{"traffic.open=1", nil, "--vary traffic.open=1: traffic.open is not supported yet; supported: traffic.group, traffic.direct, traffic.login"},
	} {
		axis, err := ParseAxis(tt.text)
		switch {
		case tt.err != "" && (err == nil || err.Error() != tt.err):
			t.Errorf("%s: got  %v\nwant %s", tt.text, err, tt.err)
		case tt.err == "" && (err != nil || !reflect.DeepEqual(axis.Values, tt.values)):
			t.Errorf("%s: %q, %v; want %q", tt.text, axis.Values, err, tt.values)
		}
	}
}

func FuzzParseAxis(f *testing.F) {
	for _, s := range []string{"clients.ack.every=1,2", "faults=[{kind: reset, at: 1s}],[]", "thresholds='a,b", "x==", "clients.poll=1s,,", "vary=[{]}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		axis, err := ParseAxis(text)
		var problems Problems
		if err != nil {
			if !errors.As(err, &problems) || len(problems) == 0 {
				t.Fatalf("%q: %v is no list of problems", text, err)
			}
			return
		}
		if axis.Key == "" || len(axis.Values) == 0 {
			t.Fatalf("%q: no error and no values", text)
		}
		seen := map[string]bool{}
		for _, v := range axis.Values {
			if seen[v] {
				t.Errorf("%q: %s twice", text, v)
			}
			seen[v] = true
		}
		again, err := ParseAxis(axis.Key + "=" + strings.Join(axis.Values, ","))
		if err != nil || !reflect.DeepEqual(again.Values, axis.Values) {
			t.Errorf("%q: canonical %q reads as %q, %v", text, axis.Values, again.Values, err)
		}
	})
}
