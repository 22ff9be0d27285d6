package engine

import (
	"slices"
	"testing"
	"time"

	"ackmark/loadgen/schedule"
)

func testMessages() *messages {
	return newMessages("ab12r1", 3, nil, slices.Values([]schedule.Event{
		{At: 1 * time.Millisecond, Conversation: 0, Ordinal: 0},
		{At: 2 * time.Millisecond, Conversation: 2, Ordinal: 0},
		{At: 5 * time.Millisecond, Conversation: 0, Ordinal: 1},
	}))
}

func TestMessages(t *testing.T) {
	m := testMessages()
	m.begin(time.Second)
	if got := m.intended[0][1]; got != 1005*time.Millisecond {
		t.Errorf("intended %v, want 1.005 s: the origin and 5 ms", got)
	}
	if got := m.id(2, 0); got != "ab12r1.2.0" {
		t.Errorf("id %s", got)
	}
	for _, tt := range []struct {
		id string
		ok bool
	}{
		{"ab12r1.0.0", true}, {"ab12r1.0.1", true}, {"ab12r1.2.0", true},
		{"ab12r1.0.2", false},  // no such ordinal
		{"ab12r1.1.0", false},  // nothing is sent there
		{"ab12r1.3.0", false},  // no such conversation
		{"ab12r2.0.0", false},  // another run
		{"ab12r11.0.0", false}, // another run
		{"ab12r1.0", false}, {"ab12r1..0", false}, {"ab12r1.00.0", false}, {"ab12r1.0.-1", false}, {"ab12r1", false}, {"", false},
		{"ab12r1.0.99999999999999999999", false},
	} {
		c, k, ok := m.parse([]byte(tt.id))
		if ok != tt.ok || ok && m.id(c, k) != tt.id {
			t.Errorf("%q: %d, %d, %v", tt.id, c, k, ok)
		}
	}
	if n := testing.AllocsPerRun(100, func() { m.parse([]byte("ab12r1.0.1")) }); n > 0 {
		t.Errorf("parse allocates %v times", n)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"ab12r1.0.1", "ab12r1.0.01", "ab12r1..", "x"} {
		f.Add([]byte(s))
	}
	m := testMessages()
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, k, ok := m.parse(b); ok && m.id(c, k) != string(b) {
			t.Errorf("%q was read as %s", b, m.id(c, k))
		}
	})
}

func TestTags(t *testing.T) {
	for _, x := range [][2]int{{0, 0}, {3, 7}, {10_999_999, 1<<32 - 1}} {
		if c, k := untag(tagOf(x[0], x[1])); c != x[0] || k != x[1] {
			t.Errorf("%v became %d, %d", x, c, k)
		}
	}
}
