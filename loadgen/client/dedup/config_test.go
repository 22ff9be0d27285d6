package dedup

import (
	"strings"
	"testing"
)

func TestParseMode(t *testing.T) {
	for _, m := range []Mode{None, Set, Window, Watermark} {
		if got, err := ParseMode(m.String()); got != m || err != nil {
			t.Errorf("%v reads as %v, %v", m, got, err)
		}
	}
	if _, err := ParseMode("bloom"); err == nil || !strings.Contains(err.Error(), "none, set, window or watermark") {
		t.Errorf("an unknown mode: %v", err)
	}
}

func TestNew(t *testing.T) {
	d, err := New(Config{})
	if err != nil || d.Config() != (Config{Mode: Watermark, Window: DefaultWindow, Recent: DefaultRecent}) {
		t.Errorf("defaults: %+v, %v", d.Config(), err)
	}
	for _, c := range []Config{{Mode: 9}, {Window: -1}, {Recent: -1}} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
}
