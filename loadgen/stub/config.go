package stub

import (
	"errors"
	"fmt"
	"time"
)

// Config says how the stub behaves.
type Config struct {
	TokenSecret string // required: users' tokens are signed with it (JWT, HS256)
	AdminSecret string // required: bearer of the admin API
	Port        int    // on 127.0.0.1; 0 = any free one

	Seed   uint64
	Delay  Delay         // of deliveries, from the send's receipt; default none
	Answer Delay         // of the answer to a send; default none
	Accept time.Duration // before a WebSocket handshake is answered

	Inject Inject
	Stall  Stall

	Page   int // messages per page, and the most; default 1000
	Retain int // messages kept per conversation; default 100,000
	Keep   int // delays kept for exact percentiles, 16 bytes each; default 4,000,000
}

// Inject is the share of deliveries (of messages for Twice) that each fault
// befalls, 0 to 1. A delivery has at most one fault, and none when its message
// is stored twice. What can't be carried out, such as a swap at the end of a
// conversation, isn't, and isn't counted.
type Inject struct {
	Lose     float64 // never delivered, pages skip it
	Again    float64 // the same frame twice
	Twice    float64 // messages stored under a second seq
	Swap     float64 // written after the next one
	Late     float64 // shown after later ones; costs the recipient a reconnect
	Renumber float64 // comes under the next one's seq, and that under this one's
}

// Stall is one pause of the whole server.
type Stall struct {
	At  time.Duration // after the first send was read
	For time.Duration // 0 = none
}

func (c *Config) check() error {
	if c.TokenSecret == "" || c.AdminSecret == "" {
		return errors.New("stub: TokenSecret and AdminSecret are empty; the generator needs both to seed and to connect")
	}
	sum := 0.0
	for _, share := range []struct {
		name string
		of   float64
	}{
		{"Lose", c.Inject.Lose}, {"Again", c.Inject.Again}, {"Twice", c.Inject.Twice}, {"Swap", c.Inject.Swap},
		{"Late", c.Inject.Late}, {"Renumber", c.Inject.Renumber},
	} {
		if !(share.of >= 0 && share.of <= 1) {
			return fmt.Errorf("stub: Inject.%s is %g; it should be a share from 0 to 1", share.name, share.of)
		}
		if share.name != "Twice" {
			sum += share.of
		}
	}
	switch {
	case sum > 1:
		return fmt.Errorf("stub: the shares of faults of a delivery add up to %g; they should stay below 1", sum)
	case c.Stall.At < 0 || c.Stall.For < 0 || c.Accept < 0:
		return errors.New("stub: Stall and Accept can't be negative")
	}
	if c.Delay == nil {
		c.Delay = Constant(0)
	}
	for v, d := range map[*int]int{&c.Page: 1000, &c.Retain: 100_000, &c.Keep: 4_000_000} {
		if *v <= 0 {
			*v = d
		}
	}
	return nil
}
