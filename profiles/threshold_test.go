package profiles

import (
	"math"
	"testing"
)

func TestParseThreshold(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want Threshold
		text string
	}{
		{"lost == 0", Threshold{"lost", "==", 0, UnitNumber}, "lost == 0"},
		{"lost==0", Threshold{"lost", "==", 0, UnitNumber}, "lost == 0"},
		{"live.p99.9 <  1500ms", Threshold{"live.p99.9", "<", 1.5e9, UnitDuration}, "live.p99.9 < 1.5s"},
		{"ack_requests_per_delivery <= 0.02", Threshold{"ack_requests_per_delivery", "<=", 0.02, UnitNumber}, "ack_requests_per_delivery <= 0.02"},
		{"ack_requests_predicted_error >= -0.05", Threshold{"ack_requests_predicted_error", ">=", -0.05, UnitNumber}, "ack_requests_predicted_error >= -0.05"},
		{" redelivered != 0 ", Threshold{"redelivered", "!=", 0, UnitNumber}, "redelivered != 0"},
		{"lost > -0", Threshold{"lost", ">", 0, UnitNumber}, "lost > 0"},
	} {
		got, err := ParseThreshold(tc.in)
		if err != nil || got != tc.want || got.String() != tc.text {
			t.Errorf("%q: %+v %q, %v; want %+v %q", tc.in, got, got, err, tc.want, tc.text)
		}
	}
}

func TestThresholdHolds(t *testing.T) {
	for _, tc := range []struct {
		op                   string
		below, equal, beyond bool
	}{
		{"==", false, true, false}, {"!=", true, false, true}, {"<", true, false, false},
		{"<=", true, true, false}, {">", false, false, true}, {">=", false, true, true},
	} {
		th := Threshold{Metric: "m", Op: tc.op, Value: 5}
		if th.Holds(4) != tc.below || th.Holds(5) != tc.equal || th.Holds(6) != tc.beyond {
			t.Errorf("4, 5, 6 %s 5: %v %v %v", tc.op, th.Holds(4), th.Holds(5), th.Holds(6))
		}
		if th.Holds(math.NaN()) {
			t.Errorf("%s holds for NaN, which is no measurement", tc.op)
		}
	}
}

func FuzzThreshold(f *testing.F) {
	for _, s := range []string{"lost == 0", "live.p99 < 250ms", "a>=-1.5", "a =< 5", "x < 1h0m5s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { reread(t, s, ParseThreshold, Threshold.String) })
}
