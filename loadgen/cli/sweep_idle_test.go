package cli

import (
	"strings"
	"testing"
)

// What is varied and does nothing in some variants is said before anything is
// measured, with what would be right.
func TestSweepIdleAxes(t *testing.T) {
	const every, interval = "warning: clients.ack.every has no effect with ", "warning: clients.ack.interval has no effect with "
	const same = ": points that differ in nothing else are the same, whatever their names say; "
	for _, tt := range []struct {
		args []string // besides the profile ack-storm
		want []string
		not  []string
	}{
		{[]string{"--vary", "clients.ack.every=1,10"},
			[]string{every + "each (policy each), every 500ms (policy interval)" + same + "limit the sweep with --variant 'every 10' --variant '10 or 500ms'\n"}, []string{interval}},
		{[]string{"--vary", "clients.ack.interval=50ms,1s"},
			[]string{interval + "each (policy each), every 10 (policy count)" + same + "limit the sweep with --variant 'every 500ms' --variant '10 or 500ms'\n"}, []string{every}},
		{[]string{"--vary", "clients.ack.every=1,10", "--variant", "each"}, []string{every + "each (policy each)" + same + "vary something else\n"}, nil},
		{[]string{"--vary", "clients.ack.every=1,10", "--vary", "clients.ack.policy=each,count", "--variant", "each"},
			[]string{every + "clients.ack.policy=each" + same + "vary it under count and count-or-interval alone\n"}, nil},
		{[]string{"--vary", "clients.ack.every=1,10", "--variant", "every 10", "--variant", "10 or 500ms"}, nil, []string{"has no effect"}},
		{[]string{"--vary", "clients.window=64,256"}, nil, []string{"has no effect"}},
	} {
		f := &fakeEngine{t: t}
		o := f.sweep(append([]string{"ack-storm", "--dry-run"}, tt.args...)...)
		if o.code != 0 {
			t.Errorf("%q: exit %d\n%s", tt.args, o.code, o.err)
		}
		for _, want := range tt.want {
			if !strings.Contains(o.err, want) {
				t.Errorf("%q: no %q in\n%s", tt.args, want, o.err)
			}
		}
		for _, not := range tt.not {
			if strings.Contains(o.err, not) {
				t.Errorf("%q: %q in\n%s", tt.args, not, o.err)
			}
		}
	}
}
