package client

import (
	"errors"
	"fmt"
	"hash/maphash"
	"time"

	"ackmark/loadgen/client/ackpolicy"
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

// PullAck is how pulled messages are acked.
type PullAck uint8

// The ways to ack pulled messages.
const (
	AckNextPage    PullAck = iota + 1 // the next page's request is the ack, one last ack after the last page
	AckPage                           // an ack request after each page
	AckEachMessage                    // an ack request for each message
	AckNothing                        // none
)

// ParsePullAck reads "next-page", "page", "each" or "none".
func ParsePullAck(s string) (PullAck, error) {
	switch s {
	case "next-page":
		return AckNextPage, nil
	case "page":
		return AckPage, nil
	case "each":
		return AckEachMessage, nil
	case "none":
		return AckNothing, nil
	}
	return 0, fmt.Errorf("pull ack %q is unknown; use next-page, page, each or none", s)
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
	Connect  Connecting
	GapWait  time.Duration // how long a gap may wait for the answer to the device's own send; default 100ms
	Recent   int           // identities (sender, client_msg_id) remembered per conversation; default 4096
	Hold     int           // messages behind a gap remembered per conversation; default 1024
}

// Sending is the timeout and retries of a send.
type Sending struct {
	Timeout time.Duration // of one attempt; default 5s
	Retries int           // further attempts; 0 = none
	Backoff time.Duration // first wait after a retryable error, doubled each time, jittered; default 50ms
}

// Pulling is how stored messages are pulled.
type Pulling struct {
	Page     int           // messages per page; default: the server's
	Ack      PullAck       // default AckNextPage
	Parallel int           // conversations pulled at the same time; default 1: one after the other
	Timeout  time.Duration // of a page; default 10s
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
	hash  maphash.Seed
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
	if cfg.Observer == nil {
		cfg.Observer = Ignore{}
	}
	defaultTo(&cfg.Resume, FromCursor)
	defaultTo(&cfg.Pull.Ack, AckNextPage)
	defaultTo(&cfg.Pull.Parallel, 1)
	defaultTo(&cfg.Pull.Timeout, 10*time.Second)
	defaultTo(&cfg.Send.Timeout, 5*time.Second)
	defaultTo(&cfg.Send.Backoff, 50*time.Millisecond)
	defaultTo(&cfg.Connect.Timeout, 10*time.Second)
	defaultTo(&cfg.Connect.Backoff, 50*time.Millisecond)
	defaultTo(&cfg.Connect.Max, 5*time.Second)
	defaultTo(&cfg.GapWait, 100*time.Millisecond)
	defaultTo(&cfg.Recent, 4096)
	defaultTo(&cfg.Hold, 1024)
	taker, _ := cfg.Observer.(Taker)
	return &Fleet{cfg: cfg, taker: taker, hash: maphash.MakeSeed()}, nil
}

func defaultTo[T ~int | ~uint8 | ~int64](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}
