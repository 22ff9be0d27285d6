package stub

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ackmark/loadgen/client"
	"ackmark/loadgen/ledger"
)

func parse(id []byte) (group, ordinal int) {
	parts := strings.Split(string(id), ".")
	group, _ = strconv.Atoi(parts[1])
	ordinal, _ = strconv.Atoi(parts[2])
	return group, ordinal
}

func (r *rig) delivery(dev int, a client.Arrival) ledger.Delivery {
	g, k := parse(a.ClientMsgID)
	return ledger.Delivery{Conversation: g, Ordinal: k, Recipient: dev, Epoch: a.Epoch, Seq: a.Seq, At: a.At}
}

// OnArrival tells the ledger, and measures from the departure of the send.
func (r *rig) OnArrival(dev int, a client.Arrival) {
	d := r.delivery(dev, a)
	if r.ledger.OnArrival(d) && a.Path == client.Pushed {
		took := a.At - time.Duration(r.sent[d.Conversation][d.Ordinal].Load())
		r.mu.Lock()
		r.latency.Record(took)
		r.exact = append(r.exact, took)
		r.mu.Unlock()
	}
	r.arrivals.Add(1)
}

// OnShown tells the ledger.
func (r *rig) OnShown(dev int, a client.Arrival) { r.ledger.OnShown(r.delivery(dev, a)) }

// OnSendResult tells the ledger.
func (r *rig) OnSendResult(_ int, s client.SendResult) {
	g, k := int(s.Tag>>32), int(s.Tag&(1<<32-1))
	switch s.Outcome {
	case client.Accepted:
		r.ledger.OnAccepted(g, k, s.Epoch, s.Seq)
		r.accepted.Add(1)
		r.mu.Lock()
		r.tookSend = append(r.tookSend, s.Answered-s.Sent)
		r.mu.Unlock()
	case client.Refused:
		r.ledger.OnRefused(g, k)
	default:
		r.ledger.OnUnknown(g, k)
	}
}

// OnFault keeps what went wrong, for the log.
func (r *rig) OnFault(dev int, _ time.Duration, f client.Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trouble = append(r.trouble, fmt.Sprintf("device %d: %v", dev, &f))
}

// view asks the stub as the engine asks Redis.
func (r *rig) view(g int) (ledger.Stored, bool) {
	name := fmt.Sprintf("g:g%d", g)
	return ledger.Stored{
		Epoch: epoch, First: 1, Head: r.stub.Head(name), Count: r.stub.Head(name),
		Cursor: func(u int) (uint64, bool) { return r.stub.Cursor(name, userName(u)) },
	}, true
}

func sorted(d []time.Duration) Delays {
	out := slices.Clone(d)
	slices.Sort(out)
	return Delays{sorted: out}
}

func messageID(x ledger.Example) string { return fmt.Sprintf("t.%d.%d", x.Conversation, x.Ordinal) }
