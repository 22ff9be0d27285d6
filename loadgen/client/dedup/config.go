package dedup

import (
	"fmt"
	"hash/maphash"
	"math/bits"
)

// Mode is what a client remembers to recognise a redelivery.
type Mode uint8

// The modes.
const (
	None      Mode = iota + 1 // nothing
	Set                       // every message ever shown
	Window                    // the last K messages shown
	Watermark                 // contiguous seqs and the ranges above them
)

var modeNames = [...]string{None: "none", Set: "set", Window: "window", Watermark: "watermark"}

// ParseMode reads "none", "set", "window" or "watermark".
func ParseMode(s string) (Mode, error) {
	for m := None; m <= Watermark; m++ {
		if s == modeNames[m] {
			return m, nil
		}
	}
	return 0, fmt.Errorf("dedup %q is unknown; use none, set, window or watermark", s)
}

// String returns what ParseMode reads.
func (m Mode) String() string {
	if m >= None && m <= Watermark {
		return modeNames[m]
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// DefaultWindow and DefaultRecent are used where a Config says 0.
const (
	DefaultWindow = 1024
	DefaultRecent = 4096
)

// Config is how a client dedups.
type Config struct {
	Mode   Mode // default Watermark
	Window int  // of mode window: messages remembered per conversation; default 1024
	Recent int  // of mode watermark: identities remembered per conversation for a change of epoch; default 4096
}

// Dedup makes the States of devices that dedup in the same way.
type Dedup struct {
	cfg  Config
	seed maphash.Seed
}

// New checks cfg and fills its defaults in.
func New(cfg Config) (*Dedup, error) {
	if cfg.Mode == 0 {
		cfg.Mode = Watermark
	}
	if cfg.Mode > Watermark {
		return nil, fmt.Errorf("dedup: %v is no mode; use none, set, window or watermark", cfg.Mode)
	}
	if cfg.Window < 0 || cfg.Recent < 0 {
		return nil, fmt.Errorf("dedup: window %d and recent %d must be 1 or above, or 0 for the default", cfg.Window, cfg.Recent)
	}
	if cfg.Window == 0 {
		cfg.Window = DefaultWindow
	}
	if cfg.Recent == 0 {
		cfg.Recent = DefaultRecent
	}
	return &Dedup{cfg: cfg, seed: maphash.MakeSeed()}, nil
}

// Config returns what is in force.
func (d *Dedup) Config() Config { return d.cfg }

// identity is a hash of (sender, client_msg_id), which names a message whatever
// seq it was stored under. Of n messages remembered, two share one with a
// probability of n²/2⁶⁵: below 10⁻⁷ for a million, 10⁻¹² for 4,096.
type identity uint64

// identify hashes. Zero marks an empty place in a table, so it is no identity.
// With both names in one buffer and one hash it takes longer.
func (d *Dedup) identify(sender, clientMsgID []byte) identity {
	h := bits.RotateLeft64(maphash.Bytes(d.seed, sender), 29) ^ maphash.Bytes(d.seed, clientMsgID)
	return identity(max(h, 1))
}
