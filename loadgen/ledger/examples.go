package ledger

import "sync"

// Kind is a kind of trouble.
type Kind uint8

// The kinds.
const (
	Lost Kind = iota
	Redelivered
	ShownTwice
	OutOfOrder
	AckedNotReceived
	NotShown
	SeqMismatch
	RefusedArrived
	Foreign
	kinds
)

var kindNames = [kinds]string{
	Lost: "lost", Redelivered: "redelivered", ShownTwice: "shown_twice", OutOfOrder: "out_of_order",
	AckedNotReceived: "acked_not_received", NotShown: "not_shown", SeqMismatch: "seq_mismatch",
	RefusedArrived: "refused_arrived", Foreign: "foreign",
}

// String returns the kind's name in results.
func (k Kind) String() string {
	if k >= kinds {
		return "Kind(?)"
	}
	return kindNames[k]
}

// Example is one case of a kind, so that a count can be looked into.
type Example struct {
	Kind                             Kind
	Conversation, Ordinal, Recipient int // -1: not known
	Epoch, Seq                       uint64
	Detail                           string
}

// examples counts cases and keeps the first few of each kind.
type examples struct {
	mu    sync.Mutex
	limit int
	count [kinds]uint64
	first [kinds][]Example
}

func (e *examples) note(k Kind, x Example) { e.add(k, 1, x) }

// add notes n cases at once, with one example.
func (e *examples) add(k Kind, n uint64, x Example) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.count[k] += n
	if len(e.first[k]) < e.limit {
		x.Kind = k
		e.first[k] = append(e.first[k], x)
	}
}
