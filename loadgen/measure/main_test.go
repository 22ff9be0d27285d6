package measure

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func value(t *testing.T, what string, p *int64) int64 {
	t.Helper()
	if p == nil {
		t.Fatalf("%s is null", what)
	}
	return *p
}

// within says whether got lies within a share of want.
func within(got, want, share float64) bool {
	d := got - want
	return d <= share*want && -d <= share*want
}
