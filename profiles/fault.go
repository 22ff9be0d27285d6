package profiles

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// Fault is one deliberate failure. At counts from the start of measure.
type Fault struct {
	Kind  string   `json:"kind"` // FaultKillServer, FaultKillRedis, FaultReset, FaultCrashClients
	At    Duration `json:"at"`
	Down  Duration `json:"down"`  // until the restart, or until crashed clients log in again; 0 for FaultReset
	Every Duration `json:"every"` // from one time to the next; 0 happens once
	Cut   int      `json:"cut"`   // messages cut off the tail of the append-only file before the restart; only with FaultKillRedis
	Share Percent  `json:"share"` // of the connections that are reset, or the connected clients that crash; only with FaultReset and FaultCrashClients
}

// String gives the canonical text. What came after kill-server stands in it
// only where it is set, so that older profiles keep their hash.
func (f Fault) String() string {
	text := fmt.Sprintf("{kind: %s, at: %s", f.Kind, f.At)
	if f.Kind != FaultReset {
		text += ", down: " + f.Down.String()
	}
	if f.Every > 0 {
		text += ", every: " + f.Every.String()
	}
	if f.Cut > 0 {
		text += ", cut: " + strconv.Itoa(f.Cut)
	}
	if f.shared() {
		text += ", share: " + f.Share.String()
	}
	return text + "}"
}

// shared tells whether the fault hits a share of the clients.
func (f Fault) shared() bool { return f.Kind == FaultReset || f.Kind == FaultCrashClients }

// Times gives when the fault begins within a measure of the given length,
// counted from its start, ascending: At, then every Every as long as it is over
// in time.
func (f Fault) Times(measure Duration) []Duration {
	var times []Duration
	for at := f.At; at+f.Down <= measure; at += f.Every {
		times = append(times, at)
		if f.Every <= 0 {
			break
		}
	}
	return times
}

// Timeline gives each single failure of measure in order of time: the faults
// with Every unrolled, so each happens once, at At.
func (p *Profile) Timeline() []Fault {
	var out []Fault
	for _, f := range p.Faults {
		for _, at := range f.Times(p.Phases.Measure) {
			once := f
			once.At, once.Every = at, 0
			out = append(out, once)
		}
	}
	slices.SortStableFunc(out, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
	return out
}
