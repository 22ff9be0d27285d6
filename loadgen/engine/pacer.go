package engine

import (
	"context"
	"iter"
	"math/rand/v2"
	"sync"
	"time"

	"ackmark/loadgen/client"
	"ackmark/loadgen/measure"
	"ackmark/loadgen/schedule"
	"ackmark/profiles"
)

// lateAfter is the generator's stated tolerance, the same as the floor below
// which results calls no lag large: what is later than this counts as late.
const lateAfter = 2 * time.Millisecond

// pacer walks the schedule on its absolute timeline and hands each message to
// its sender. It never waits for a device: a device that is stuck in a write
// has a queue of its own. Late messages leave at once, in order; nothing is
// dropped.
type pacer struct {
	run     *run
	bodies  bodies
	devices []sender
	wait    *waiter
	precise bool           // waits on a thread of its own
	wg      sync.WaitGroup // senders at work
}

// sender is one device's queue of messages that are due.
type sender struct {
	mu    sync.Mutex // guards what follows
	queue []due
	busy  bool // a goroutine empties the queue
	// flush writes a message that the connection didn't take at once; written
	// is when it was intended.
	flush   func()
	written time.Duration
}

// due is a message whose time has come.
type due struct {
	message               client.Message
	conversation, ordinal int
	sender                int
}

func newPacer(r *run) *pacer {
	p := r.profile
	size := 0
	for _, f := range []int{bytesOf(p.Traffic.Group), bytesOf(p.Traffic.Direct)} {
		size = max(size, f)
	}
	pc := &pacer{run: r, bodies: newBodies(size, r.seed), devices: make([]sender, len(r.seats)), wait: newWaiter(r.clock)}
	if p.Pacing != profiles.PacingSleep {
		pc.wait = newPreciseWaiter(r.clock)
		pc.precise = true
	}
	return pc
}

// walk must have a goroutine of its own, which ends with it: see ownThread.
//
// walk sends every event at origin + its time until ctx ends, and returns when
// all that was handed over has been written or queued by its device.
func (p *pacer) walk(ctx context.Context, origin time.Duration, events iter.Seq[schedule.Event]) {
	defer p.wg.Wait()
	if p.precise {
		defer p.run.ownThread()()
	}
	for e := range events {
		if p.wait.until(ctx, origin+e.At) != nil {
			return
		}
		if e.Kind == schedule.Login {
			p.run.lives.arrive(e.Sender, origin+e.At)
			continue
		}
		p.hand(e)
	}
}

func (p *pacer) hand(e schedule.Event) {
	r := p.run
	flow := r.profile.Traffic.Group
	if e.Kind == schedule.Direct {
		flow = r.profile.Traffic.Direct
	}
	if r.device(e.Sender) == nil { // crashed, and not back: nobody is there to send it
		if r.obs.window.Load().holds(r.msgs.intended[e.Conversation][e.Ordinal]) {
			r.obs.tallies.nobody.Add(1)
		}
		return
	}
	d := r.due(e, p.bodies.next(int(flow.Bytes)))
	r.obs.tallies.scheduled.Add(1)
	r.obs.ledger.OnSend(e.Conversation, e.Ordinal)
	s := &p.devices[e.Sender]
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.busy && p.sendNow(e.Sender, s, &d) {
		return
	}
	s.queue = append(s.queue, d)
	p.employ(e.Sender, s)
}

// due is the message of an event.
func (r *run) due(e schedule.Event, body []byte) due {
	return due{
		conversation: e.Conversation, ordinal: e.Ordinal, sender: e.Sender,
		message: client.Message{
			To: r.pop.Conversation(e.Conversation), ClientMsgID: r.msgs.id(e.Conversation, e.Ordinal),
			Body: body, Intended: r.msgs.intended[e.Conversation][e.Ordinal], Tag: tagOf(e.Conversation, e.Ordinal),
		},
	}
}

// employ sees to it that a goroutine empties a device's queue.
func (p *pacer) employ(dev int, s *sender) {
	if !s.busy {
		s.busy = true
		p.wg.Go(func() { p.empty(dev, s) })
	}
}

// sendNow sends from the pacer's own goroutine, without ever waiting: a fresh
// goroutine would stand in line behind hundreds of readers while a fan-out is
// being received. False: the device is busy, it has to be queued.
func (p *pacer) sendNow(dev int, s *sender, d *due) bool {
	r := p.run
	left := &r.msgs.sent[d.conversation][d.ordinal]
	left.Store(int64(r.clock.now()))
	device := r.device(dev)
	if device == nil {
		r.obs.notSent(d.conversation, d.ordinal)
		return true
	}
	queued, flush, err := device.TrySend(d.message)
	switch {
	case !queued:
		return false
	case err != nil:
		r.obs.notSent(d.conversation, d.ordinal)
	case flush != nil:
		s.flush, s.written = flush, d.message.Intended
		p.employ(dev, s)
	default:
		p.lag(dev, d.message.Intended)
	}
	return true
}

// empty sends what is queued for a device, in order, until nothing is.
func (p *pacer) empty(dev int, s *sender) {
	for {
		s.mu.Lock()
		if flush := s.flush; flush != nil {
			s.flush = nil
			s.mu.Unlock()
			flush()
			p.lag(dev, s.written)
			continue
		}
		if len(s.queue) == 0 {
			s.busy = false
			s.mu.Unlock()
			return
		}
		batch := s.queue
		s.queue = nil
		s.mu.Unlock()
		for i := range batch {
			p.send(dev, &batch[i])
		}
	}
}

// send hands one message to its device. The time of departure is taken before,
// since a recipient may have the message before Send returns; the lag is taken
// after, so that a slow write counts as lateness.
func (p *pacer) send(dev int, d *due) {
	r := p.run
	r.msgs.sent[d.conversation][d.ordinal].Store(int64(r.clock.now()))
	device := r.device(dev)
	if device == nil || device.Send(d.message) != nil {
		r.obs.notSent(d.conversation, d.ordinal)
		return
	}
	p.lag(dev, d.message.Intended)
}

// lag records how late a message is that has just been written.
func (p *pacer) lag(dev int, intended time.Duration) {
	r := p.run
	lag := r.clock.now() - intended
	w := r.obs.window.Load()
	w.recorder.Shard(dev).Record(measure.ScheduleLag, intended, max(lag, 0))
	if w.holds(intended) && lag > lateAfter {
		r.obs.tallies.lateSends.Add(1)
	}
}

func tagOf(conversation, ordinal int) uint64 { return uint64(conversation)<<32 | uint64(ordinal) }

func untag(tag uint64) (conversation, ordinal int) { return int(tag >> 32), int(tag & (1<<32 - 1)) }

// bodies gives message bodies of random printable characters, cut out of one
// block, so that a body costs nothing.
type bodies struct {
	block []byte
	rng   *rand.Rand
}

const bodyBlock = 64 << 10

func newBodies(largest int, seed uint64) bodies {
	rng := rand.New(rand.NewPCG(seed, 0x626f64696573))
	block := make([]byte, bodyBlock+largest)
	for i := range block {
		block[i] = byte(' ' + rng.IntN('~'-' '+1))
	}
	return bodies{block, rng}
}

func (b bodies) next(n int) []byte {
	at := b.rng.IntN(len(b.block) - n + 1)
	return b.block[at : at+n : at+n]
}

func bytesOf(f *profiles.Flow) int {
	if f == nil {
		return 0
	}
	return int(f.Bytes)
}
