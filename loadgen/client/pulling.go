package client

import (
	"fmt"
	"time"
)

// PullMode is how a device gets what waits in its inbox at login.
type PullMode uint8

// The ways to pull an inbox. d1 to d7 are the rungs of the ladder.
const (
	PullPaged       PullMode = iota + 1 // page after page (d4–d7)
	PullAll                             // one request for everything (d3)
	PullPerFriend                       // the friend list, then one request per friend (d1)
	PullCountsFirst                     // how much waits of whom, then one request per friend that is opened (d2)
)

var pullModeNames = []string{PullPaged: "paged", PullAll: "all", PullPerFriend: "per-friend", PullCountsFirst: "counts-first"}

// ParsePullMode reads "paged", "all", "per-friend" or "counts-first".
func ParsePullMode(s string) (PullMode, error) { return parse[PullMode]("pull mode", s, pullModeNames) }

// GroupPull is how a device gets what waits in its groups at login.
type GroupPull uint8

// The ways to pull groups.
const (
	PerGroup  GroupPull = iota + 1 // group by group
	AllGroups                      // all groups in the same pages
	OnDemand                       // groups are closed, until a share of them is opened
)

var groupPullNames = []string{PerGroup: "per-group", AllGroups: "all-groups", OnDemand: "on-demand"}

// ParseGroupPull reads "per-group", "all-groups" or "on-demand".
func ParseGroupPull(s string) (GroupPull, error) {
	return parse[GroupPull]("pull groups", s, groupPullNames)
}

// Order is which page of a backlog comes first. Inside a page messages are
// always in the order of their seqs.
type Order uint8

// The orders.
const (
	Oldest Order = iota + 1
	Newest
)

var orderNames = []string{Oldest: "oldest", Newest: "newest"}

// ParseOrder reads "oldest" or "newest".
func ParseOrder(s string) (Order, error) { return parse[Order]("pull order", s, orderNames) }

// PullAck is how pulled messages are acked.
type PullAck uint8

// The ways to ack pulled messages.
const (
	AckNextPage    PullAck = iota + 1 // the next page's request is the ack, one last ack after the last page
	AckPage                           // an ack request after each page
	AckEachMessage                    // an ack request for each message
	AckNothing                        // none
)

var pullAckNames = []string{AckNextPage: "next-page", AckPage: "page", AckEachMessage: "each", AckNothing: "none"}

// ParsePullAck reads "next-page", "page", "each" or "none".
func ParsePullAck(s string) (PullAck, error) { return parse[PullAck]("pull ack", s, pullAckNames) }

// parse finds a name; names[0] is no value.
func parse[T ~uint8](what, s string, names []string) (T, error) {
	for i, name := range names[1:] {
		if s == name {
			return T(i + 1), nil
		}
	}
	list := names[1]
	for i, name := range names[2:] {
		if i == len(names)-3 {
			list += " or " + name
		} else {
			list += ", " + name
		}
	}
	return 0, fmt.Errorf("%s %q is unknown; use %s", what, s, list)
}

// Pulling is how stored messages are pulled. Zero values stand for the defaults
// named with each field.
//
// With n messages in pages of P, a login makes so many requests, the last ack
// included, in both orders where there are two:
//
//	per-friend, all acks off        1 + friends
//	counts-first, all acks off      1 + friends that are opened
//	all, none                       1
//	paged, none                     ⌈n/P⌉
//	paged, each                     ⌈n/P⌉ + n
//	paged, page                     2⌈n/P⌉
//	paged, next-page                ⌈n/P⌉ + 1
//
// Groups pulled newest first are acked once, at the end, since their acks are
// cumulative. On demand, each opened group costs one request more.
type Pulling struct {
	Mode     PullMode      // of the inbox; default PullPaged
	Groups   GroupPull     // default PerGroup
	Order    Order         // of pages; default Oldest
	Open     float64       // share of the friends or groups that is opened, 0 to 1; with PullCountsFirst and OnDemand
	Page     int           // messages per page; default: the server's
	Ack      PullAck       // default AckNextPage
	Parallel int           // conversations pulled at the same time; default 1: one after the other
	Timeout  time.Duration // of a page; default 10s
}

// friendsPage is the most names that are asked for at once.
const friendsPage = 10_000

func (p *Pulling) fill() error {
	defaultTo(&p.Mode, PullPaged)
	defaultTo(&p.Groups, PerGroup)
	defaultTo(&p.Order, Oldest)
	defaultTo(&p.Ack, AckNextPage)
	defaultTo(&p.Parallel, 1)
	defaultTo(&p.Timeout, 10*time.Second)
	switch {
	case p.Mode > PullCountsFirst || p.Groups > OnDemand || p.Order > Newest || p.Ack > AckNothing:
		return fmt.Errorf("pull mode %d, groups %d, order %d, ack %d: one of them is none of the constants", p.Mode, p.Groups, p.Order, p.Ack)
	case p.Open < 0 || p.Open > 1:
		return fmt.Errorf("pull open %v is no share; use 0 to 1", p.Open)
	case p.Order == Newest && p.Groups == AllGroups:
		return fmt.Errorf("pages of all groups come oldest first; use order oldest, or groups per-group or on-demand")
	}
	return nil
}

// apart tells whether the backlog is pulled apart from the live stream: in
// another order than that of seqs, or only in part. Conversations are then live
// from their heads on.
func (p *Pulling) apart() bool {
	return p.Mode == PullPerFriend || p.Mode == PullCountsFirst || p.Order == Newest
}
