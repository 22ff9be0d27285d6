package client

import (
	"errors"
	"fmt"
	"time"

	"ackmark/loadgen/client/ackpolicy"
	"ackmark/loadgen/client/dedup"
)

// Resume is where a reconnecting device goes on.
type Resume uint8

// The ways to resume.
const (
	// FromCursor names nothing in hello: the server goes on after its cursor,
	// so that what was received but not acked comes again.
	FromCursor Resume = iota + 1
	// FromWatermark names what the device holds, which counts as an ack.
	FromWatermark
)

// ParseResume reads "cursor" or "watermark".
func ParseResume(s string) (Resume, error) {
	switch s {
	case "cursor":
		return FromCursor, nil
	case "watermark":
		return FromWatermark, nil
	}
	return 0, fmt.Errorf("resume %q is unknown; use cursor or watermark", s)
}

// Config is what all devices of a fleet have in common. Zero values stand for
// the defaults named with each field.
type Config struct {
	Driver   Driver               // required
	Clock    func() time.Duration // required: time since the run's start
	Observer Observer             // default Ignore
	Ack      ackpolicy.Policy     // required: when live deliveries are acked
	Resume   Resume               // default FromCursor
	Window   int                  // deliveries in flight; default: the server's
	Seed     uint64               // of the jitter
	Send     Sending
	Pull     Pulling
	Dedup    dedup.Config // default: the watermark
	Crash    Crashing     // default: never
	Connect  Connecting
	GapWait  time.Duration // how long a gap may wait for the answer to the device's own send; default 100ms
	Hold     int           // messages behind a gap remembered per conversation; default 1024
}

// Sending is the timeout and retries of a send.
type Sending struct {
	Timeout time.Duration // of one attempt; default 5s
	Retries int           // further attempts; 0 = none
	Backoff time.Duration // first wait after a retryable error, doubled each time, jittered; default 50ms
}

// Connecting is how a device connects, and again after a loss.
type Connecting struct {
	Timeout time.Duration // of one attempt, until the hello is written; default 10s
	Backoff time.Duration // first wait, doubled each time up to Max; jittered between half and whole; default 50ms
	Max     time.Duration // default 5s
}

// Fleet makes devices that share a Config.
type Fleet struct {
	cfg   Config
	taker Taker // cfg.Observer, if it is one
	dedup *dedup.Dedup
}

// NewFleet checks cfg and fills its defaults in.
func NewFleet(cfg Config) (*Fleet, error) {
	if cfg.Driver == nil || cfg.Clock == nil {
		return nil, errors.New("client: a fleet needs a Driver and a Clock")
	}
	if err := cfg.Ack.Check(); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if cfg.Send.Retries < 0 || cfg.Window < 0 || cfg.Pull.Page < 0 {
		return nil, fmt.Errorf("client: retries %d, window %d and page %d must be 0 or above", cfg.Send.Retries, cfg.Window, cfg.Pull.Page)
	}
	if err := cfg.Pull.fill(); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if err := cfg.Crash.check(); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	known, err := dedup.New(cfg.Dedup)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if cfg.Observer == nil {
		cfg.Observer = Ignore{}
	}
	defaultTo(&cfg.Resume, FromCursor)
	defaultTo(&cfg.Send.Timeout, 5*time.Second)
	defaultTo(&cfg.Send.Backoff, 50*time.Millisecond)
	defaultTo(&cfg.Connect.Timeout, 10*time.Second)
	defaultTo(&cfg.Connect.Backoff, 50*time.Millisecond)
	defaultTo(&cfg.Connect.Max, 5*time.Second)
	defaultTo(&cfg.GapWait, 100*time.Millisecond)
	defaultTo(&cfg.Hold, 1024)
	taker, _ := cfg.Observer.(Taker)
	return &Fleet{cfg: cfg, taker: taker, dedup: known}, nil
}

func defaultTo[T ~int | ~uint8 | ~int64](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}
