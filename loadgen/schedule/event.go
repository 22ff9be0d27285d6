package schedule

import "time"

// Kind says what an event does.
type Kind uint8

// The kinds of traffic.
const (
	Group  Kind = iota + 1 // a send to a group
	Direct                 // a send to one user's inbox
)

// Event is one intended send.
type Event struct {
	At           time.Duration // intended time since the run's start, warm-up included
	Kind         Kind
	Conversation int // population index: a group, or len(Groups)+To
	Ordinal      int // 0, 1, 2 … within the conversation, in the order of At
	Sender       int // user index, online
	To           int // user index of a direct message's recipient; -1 for a group
}
