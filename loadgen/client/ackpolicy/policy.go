package ackpolicy

import (
	"fmt"
	"strings"
	"time"
)

// Kind is the rule by which live deliveries are acked.
type Kind uint8

// The kinds of policy.
const (
	Each            Kind = iota + 1 // every delivery, at once
	Count                           // every N deliveries
	Interval                        // T after the first unacked delivery
	CountOrInterval                 // whichever of the two comes first
	None                            // never
)

var kindNames = [...]string{Each: "each", Count: "count", Interval: "interval", CountOrInterval: "count-or-interval", None: "none"}

// String returns the kind's name in a profile.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", k)
	}
	return kindNames[k]
}

// ParseKind reads a kind by its name in a profile.
func ParseKind(name string) (Kind, error) {
	for k := Each; int(k) < len(kindNames); k++ {
		if kindNames[k] == name {
			return k, nil
		}
	}
	return 0, fmt.Errorf("ack policy %q is unknown; use one of %s", name, strings.Join(kindNames[1:], ", "))
}

// Cause is why a batch was acked.
type Cause uint8

// The flush causes.
const (
	ByCount    Cause = iota + 1 // the batch reached N (with policy each: 1)
	ByInterval                  // T passed since its first delivery
	ByIdle                      // no delivery came for the idle time
	ByPage                      // a pull acked, or needed it out of the way
	ByClose                     // the client closes, or the run ends
)

var causeNames = [...]string{ByCount: "count", ByInterval: "interval", ByIdle: "idle", ByPage: "page", ByClose: "close"}

// String returns the cause's name in results.
func (c Cause) String() string {
	if c == 0 || int(c) >= len(causeNames) {
		return fmt.Sprintf("Cause(%d)", c)
	}
	return causeNames[c]
}

// Causes lists all flush causes in the order in which results print them.
func Causes() []Cause { return []Cause{ByCount, ByInterval, ByIdle, ByPage, ByClose} }

// Policy is when a client acks. It is immutable once in use.
type Policy struct {
	Kind     Kind
	Every    int           // N, in deliveries; count and count-or-interval
	Interval time.Duration // T; interval and count-or-interval
	Idle     time.Duration // flush when no delivery came for so long; 0 = off. It breaks the closed form.
}

// Check says whether the policy can be carried out.
func (p Policy) Check() error {
	counts := p.Kind == Count || p.Kind == CountOrInterval
	times := p.Kind == Interval || p.Kind == CountOrInterval
	switch {
	case p.Kind < Each || p.Kind > None:
		return fmt.Errorf("ack policy %v is unknown; use one of %s", p.Kind, strings.Join(kindNames[1:], ", "))
	case counts && p.Every < 1:
		return fmt.Errorf("ack policy %v with every: %d; every must be 1 or more", p.Kind, p.Every)
	case times && p.Interval <= 0:
		return fmt.Errorf("ack policy %v with interval: %v; the interval must be above 0", p.Kind, p.Interval)
	case p.Idle < 0:
		return fmt.Errorf("ack policy %v with idle: %v; idle is 0 (off) or above", p.Kind, p.Idle)
	}
	return nil
}

// limit is the number of deliveries that fills a batch; 0 = no number does.
func (p *Policy) limit() int {
	switch p.Kind {
	case Each:
		return 1
	case Count, CountOrInterval:
		return p.Every
	}
	return 0
}

// interval is the longest that a batch waits after its first delivery; 0 = no limit.
func (p *Policy) interval() time.Duration {
	if p.Kind == Interval || p.Kind == CountOrInterval {
		return p.Interval
	}
	return 0
}
