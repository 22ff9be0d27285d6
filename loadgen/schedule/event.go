package schedule

import "time"

// Kind says what an event does.
type Kind uint8

// The kinds of traffic.
const (
	Group  Kind = iota + 1 // a send to a group
	Direct                 // a send to one user's inbox
	Login                  // a user that was offline connects
)

// Event is one intended send or login.
type Event struct {
	At           time.Duration // intended time since the run's start, warm-up included; 0 in the backlog
	Kind         Kind
	Conversation int // population index: a group, or len(Groups)+To; -1 for a login
	Ordinal      int // 0, 1, 2 … within the conversation, the backlog first, then in the order of At; a login's number
	Sender       int // user index: online, or anybody in the backlog; who logs in
	To           int // user index of a direct message's recipient; -1 for a group or login
}
