package engine

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"ackmark/loadgen/client"
	"ackmark/loadgen/client/ackpolicy"
	"ackmark/loadgen/ledger"
	"ackmark/loadgen/measure"
)

// observer is told everything that happens to the devices of a run and hands it
// on: what was sent and arrived to the ledger, how long it took to the
// recorders, arrivals to the replay of the ack policy. Calls for one device
// come one at a time, so a device's own state needs no lock.
type observer struct {
	msgs   *messages
	ledger *ledger.Ledger
	policy ackpolicy.Policy
	online func(conversation, sender int) int64 // recipients of a message that are connected from the start
	// crashed is told whose device has died on purpose; it mustn't wait.
	crashed func(dev int)

	// setup takes what isn't bound to the measure phase: connecting, pages,
	// syncs, the age of offline messages.
	setup   *measure.Recorder
	window  atomic.Pointer[window] // nil before traffic begins
	tallies tallies
	logins  logins
	devices []deviceState
	trouble trouble
}

var _ client.Taker = (*observer)(nil)

// deviceState is what the observer knows of one device. It's read when the
// device has ended.
type deviceState struct {
	unacked  unackedArea
	arrivals int64                        // all deliveries, whole run
	named    string                       // the conversation of replay
	replay   *ackpolicy.Replay            // the one used last
	replays  map[string]*ackpolicy.Replay // by conversation

	dialed   time.Duration // when the device was to connect for the first time
	welcomed bool
	up       bool
	used     bool // the user had a device
	syncing  bool // logged in, or about to after a crash, and hasn't synced

	acks     int64 // requests, whole run
	acksIn   int64 // requests that were due in the measure phase
	pageAcks int64 // of these, brought about by a pull or a device that left, which no policy decides
	// unsentAcks were due by the policy in the measure phase, and a crash came first.
	unsentAcks int64
	causes     [8]int64
	paged      int64    // deliveries in pages in the measure phase
	_          [64]byte // four cache lines in all: no two devices share one
}

// OnArrival hands a delivery to ledger and recorder.
func (o *observer) OnArrival(dev int, a client.Arrival) {
	o.arrival(dev, &a, (*ledger.Ledger).OnArrival)
}

// OnTaken hands a delivery in its order to ledger, recorder and replay.
func (o *observer) OnTaken(dev int, a client.Arrival) {
	o.arrival(dev, &a, (*ledger.Ledger).OnTaken)
	o.OnReceived(dev, a.Conversation, a.At)
}

func (o *observer) arrival(dev int, a *client.Arrival, note func(*ledger.Ledger, ledger.Delivery) bool) {
	w := o.window.Load()
	st := &o.devices[dev]
	st.arrivals++
	st.unacked.set(st.unacked.n+1, a.At, w)
	c, k, ok := o.msgs.parse(a.ClientMsgID)
	if !ok {
		o.ledger.OnForeign(dev, a.Epoch, a.Seq, string(a.ClientMsgID))
		o.tallies.again.Add(1)
		return
	}
	first := note(o.ledger, ledger.Delivery{Conversation: c, Ordinal: k, Recipient: dev, Epoch: a.Epoch, Seq: a.Seq, At: a.At, Placed: a.Placed})
	if w == nil { // a backlog, at somebody who is connected before there is traffic
		o.waited(dev, c, k, first, a.At)
		return
	}
	shard := w.recorder.Shard(dev)
	if !first {
		o.tallies.again.Add(1)
		shard.Count(measure.Redeliveries, a.At, 1)
		return
	}
	o.tallies.arrived.Add(1)
	intended := o.msgs.intended[c][k]
	if a.Path == client.Paged {
		shard.Count(measure.Deliveries, a.At, 1)
		if w.holds(a.At) {
			st.paged++
		}
		o.age(dev, intended, a.At)
		return
	}
	shard.Deliver(a.At, intended, time.Duration(o.msgs.sent[c][k].Load()))
}

// waited counts a delivery from before the traffic.
func (o *observer) waited(dev, conversation, ordinal int, first bool, now time.Duration) {
	if !first {
		o.tallies.again.Add(1)
		return
	}
	o.tallies.arrived.Add(1)
	o.age(dev, o.msgs.intended[conversation][ordinal], now)
}

// age records how old an offline message is when it arrives.
func (o *observer) age(dev int, intended, now time.Duration) {
	o.setup.Shard(dev).Record(measure.OfflineAge, intended, max(now-intended, 0))
}

// OnShown tells the ledger what got past dedup.
func (o *observer) OnShown(dev int, a client.Arrival) {
	if c, k, ok := o.msgs.parse(a.ClientMsgID); ok {
		o.ledger.OnShown(ledger.Delivery{Conversation: c, Ordinal: k, Recipient: dev, Epoch: a.Epoch, Seq: a.Seq, At: a.At, Placed: a.Placed})
	}
}

// notSent notes that a device took no message any more: it has ended for good.
func (o *observer) notSent(conversation, ordinal int) {
	o.ledger.OnRefused(conversation, ordinal)
	o.tallies.ended.Add(1)
	o.trouble.note("send", errors.New("the device had ended"))
}

// OnSendResult ends a send. A send that was given up keeps its latency: at
// least that long it took.
func (o *observer) OnSendResult(dev int, r client.SendResult) {
	w := o.window.Load()
	c, k := untag(r.Tag)
	shard := w.recorder.Shard(dev)
	if r.Attempts > 0 {
		shard.Count(measure.Sends, r.Sent, 1)
		shard.Count(measure.Retries, r.Answered, int64(r.Attempts-1))
	}
	if w.holds(r.Intended) && (r.Attempts > 0 || r.Outcome == client.Refused) {
		o.tallies.leftInPhase.Add(1)
	}
	switch r.Outcome {
	case client.Accepted:
		o.ledger.OnAccepted(c, k, r.Epoch, r.Seq)
		o.tallies.expected.Add(o.online(c, dev))
		shard.Count(measure.Answers, r.Answered, 1)
	case client.Refused:
		o.ledger.OnRefused(c, k)
		shard.Count(measure.Refusals, r.Answered, 1)
	default:
		o.ledger.OnUnknown(c, k)
		o.tallies.unknown.Add(1)
		shard.Count(measure.Errors, r.Answered, 1)
		o.trouble.note("send given up", errors.New("last error: "+orNone(r.Code)))
	}
	if r.Outcome != client.Refused && r.Attempts > 0 {
		shard.Record(measure.SendResponse, r.Intended, r.Answered-r.Intended)
		shard.Record(measure.SendService, r.Intended, r.Answered-r.Sent)
	}
	o.tallies.ended.Add(1)
}

func orNone(code string) string {
	if code == "" {
		return "no answer"
	}
	return code
}

// OnAckSent counts an ack request, its cause and its delay.
func (o *observer) OnAckSent(dev int, a client.AckSent) {
	w := o.window.Load()
	st := &o.devices[dev]
	st.acks++
	if w.holds(a.At) {
		st.unacked.most = max(st.unacked.most, a.Unacked)
	}
	if w.holds(a.Due) { // as the replay has it
		st.acksIn++
		if int(a.Cause) < len(st.causes) {
			st.causes[a.Cause]++
		}
		if a.Cause == ackpolicy.ByPage || a.Cause == ackpolicy.ByClose || a.Carried {
			st.pageAcks++
		}
	}
	st.emptied(a)
	st.unacked.set(max(a.Unacked-a.N, 0), a.At, w)
	if w == nil {
		return
	}
	shard := w.recorder.Shard(dev)
	shard.Count(measure.AckRequests, a.At, 1)
	if a.N > 0 {
		shard.Record(measure.AckDelay, a.Oldest, max(a.At-a.Oldest, 0))
	}
}

// OnPage records a page.
func (o *observer) OnPage(dev int, p client.PageTaken) {
	o.setup.Shard(dev).Record(measure.Page, p.Asked, max(p.At-p.Asked, 0))
	if w := o.window.Load(); w != nil {
		w.recorder.Shard(dev).Count(measure.Pages, p.At, 1)
	}
}

// OnConnection counts connections, and why they were lost.
func (o *observer) OnConnection(dev int, up bool, now time.Duration, err error) {
	st := &o.devices[dev]
	w := o.window.Load()
	switch {
	case up && !st.welcomed:
		st.welcomed = true
		o.setup.Shard(dev).Record(measure.Connect, st.dialed, max(now-st.dialed, 0))
	case up && w != nil:
		w.recorder.Shard(dev).Count(measure.Reconnects, now, 1)
	}
	lost := st.up && !up
	if up != st.up {
		st.up = up
		if up {
			o.tallies.connections.Add(1)
		} else {
			o.tallies.connections.Add(-1)
		}
	}
	if up {
		return
	}
	st.disconnected(now)
	st.unacked.set(0, now, w) // the server delivers it again, or hello names it
	if w != nil {
		w.recorder.Shard(dev).Count(measure.Errors, now, 1)
		class := "couldn't connect"
		if lost {
			class = "connection lost"
		}
		o.trouble.note(class, err)
	}
}

// OnFault counts an error that the server told.
func (o *observer) OnFault(dev int, now time.Duration, f client.Fault) {
	if w := o.window.Load(); w != nil {
		w.recorder.Shard(dev).Count(measure.Errors, now, 1)
	}
	o.trouble.note("server error", errors.New(f.Code))
}

// trouble counts errors by class, so that failures aren't lumped together
// (measuring.md, 20).
type trouble struct {
	mu     sync.Mutex
	counts map[string]int64
}

// maxClasses bounds the memory of error classes.
const maxClasses = 32

func (t *trouble) note(class string, err error) {
	text := class
	if err != nil {
		text += ": " + classify(err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts = make(map[string]int64)
	}
	if _, known := t.counts[text]; !known && len(t.counts) >= maxClasses {
		text = "other"
	}
	t.counts[text]++
}
