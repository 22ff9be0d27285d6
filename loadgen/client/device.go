package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"ackmark/loadgen/client/ackpolicy"
)

// Device is one user's device. Start it, Send through it, Close it. Its
// methods are safe for concurrent use.
type Device struct {
	*Fleet
	id Identity

	mu      sync.Mutex // guards all below but ready, done and timed; never held during I/O
	up      bool       // welcomed on sess
	started bool
	closing bool
	ended   bool          // nothing is waited for any more
	sess    Session       // nil while there is no connection
	last    *conversation // of the last delivery pushed
	unacked int           // deliveries, over all conversations
	timerAt time.Duration // when timer fires; 0 = it doesn't
	armed   CrashPoint    // where the device dies in this login
	dead    bool          // it has died there
	stats   Stats
	// What a delivery touches ends here: with hundreds of devices none of it is
	// in the cache when one comes.

	ready chan struct{}  // closed by the first welcome
	done  chan struct{}  // closed when run has returned
	timed sync.WaitGroup // the armed or running timer
	timer *time.Timer
	hurry context.CancelFunc // ends what run waits for without a connection
	fatal error              // why connecting again is useless
	cause error              // why the last connection ended, or wasn't made

	byName   map[string]*conversation
	all      []*conversation
	ref      uint64          // of the last request
	sends    []*sending      // without an answer, by ref
	queue    []*conversation // waiting for their turn to be pulled
	pulls    int             // being pulled
	groups   groupSync
	openings []*opening // without an answer
	chosen   bool       // which groups are opened
	logins   int
	sync     Sync
	synced   bool
	saved    *Saved // what was persisted when the device died
	rng      *rand.Rand
}

// Stats counts what a device did since it was made.
type Stats struct {
	Deliveries   uint64 // received, pushed and paged
	Redelivered  uint64 // of these, known already
	AckRequests  uint64 // frames of their own
	CarriedAcks  uint64 // on page requests
	PageRequests uint64 // and sync requests
	Resends      uint64 // attempts after the first
	Reconnects   uint64
	Forgotten    uint64 // shown though they may have been shown so long ago that dedup has forgotten it: its window is too small
	NotHeld      uint64 // behind a gap and over the limit; pulled later
	BytesRead    uint64
	BytesWritten uint64
	AckBytes     uint64 // of these, ack requests
	Wakeups      uint64 // reads that brought something, and ack timers that fired
	AckWakeups   uint64 // of these, the latter
	Unacked      int    // deliveries now
	Unanswered   int    // sends now
	Pulling      int    // conversations now, waiting ones included
}

// Device makes a device. It does nothing before Start.
func (f *Fleet) Device(id Identity) *Device {
	return &Device{
		Fleet:  f,
		id:     id,
		ready:  make(chan struct{}),
		done:   make(chan struct{}),
		byName: make(map[string]*conversation, 1),
		rng:    rand.New(rand.NewPCG(f.cfg.Seed, uint64(id.Index))),
	}
}

// Start connects and returns when the server has welcomed the device. It keeps
// trying until ctx ends or the server refuses for good; then the device is
// done. ctx bounds only the start. Start is called once.
func (d *Device) Start(ctx context.Context) error {
	d.mu.Lock()
	if d.closing || d.started {
		d.mu.Unlock()
		return fmt.Errorf("device %s: started twice, or after it was closed", d.id.User)
	}
	d.started = true
	d.mu.Unlock()
	go d.run(context.WithoutCancel(ctx))
	select {
	case <-d.ready:
		return nil
	case <-d.done:
	case <-ctx.Done():
		d.Crash()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	why := d.cause
	if d.fatal != nil {
		why = d.fatal
	}
	if why == nil {
		why = ctx.Err()
	}
	return fmt.Errorf("device %s: connect: %w", d.id.User, why)
}

// Close acks what is unacked, waits until that is on the wire, and leaves in
// order. What arrives after the last ack isn't taken in any more. The error
// says that something didn't get through before ctx ended, or that there was
// no connection to ack on.
func (d *Device) Close(ctx context.Context) error {
	d.mu.Lock()
	first := !d.closing
	if first && d.sess != nil && d.up {
		d.flushAll(d.cfg.Clock())
	}
	sess, left := d.shut()
	d.mu.Unlock()
	var err error
	switch {
	case sess != nil:
		err = sess.Close(ctx)
	case left > 0:
		err = errors.New("closed while there was no connection")
	}
	d.join()
	if err == nil && left > 0 {
		err = errors.New("the connection had not been welcomed")
	}
	if err != nil && first {
		return fmt.Errorf("device %s: close with %d deliveries unacked: %w", d.id.User, left, err)
	}
	return nil
}

// Crash ends the device as a power cut would: nothing is flushed.
func (d *Device) Crash() {
	d.mu.Lock()
	sess, _ := d.shut()
	d.mu.Unlock()
	if sess != nil {
		sess.Abort()
	}
	d.join()
}

// Drop breaks the connection, as a network does; the device reconnects.
func (d *Device) Drop() {
	d.mu.Lock()
	sess := d.sess
	d.mu.Unlock()
	if sess != nil {
		sess.Abort()
	}
}

// Done is closed when the device has ended: closed, crashed, or refused for good.
func (d *Device) Done() <-chan struct{} { return d.done }

// Stats returns the counts so far.
func (d *Device) Stats() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.stats
	s.Unacked = d.unacked
	s.Unanswered = len(d.sends)
	s.Pulling = d.pulls + len(d.queue) + len(d.openings)
	if d.sess != nil {
		s.carried(d.sess)
	}
	return s
}

// carried adds what a connection has carried.
func (s *Stats) carried(sess Session) {
	r, w := sess.Bytes()
	s.BytesRead += r
	s.BytesWritten += w
	if m, ok := sess.(Meter); ok {
		s.AckBytes += m.AckBytes()
		s.Wakeups += m.Wakeups()
	}
}

// shut takes the device out of service and says what is left unacked.
func (d *Device) shut() (Session, int) {
	if !d.closing {
		d.closing = true
		d.stopTimer()
		if !d.started { // never started: nobody else will
			close(d.done)
		}
	}
	left := 0
	if !d.up && d.cfg.Ack.Kind != ackpolicy.None {
		left = d.unacked
	}
	return d.sess, left
}

// join waits for everything that the device started. Sends without an answer
// end as unknown.
func (d *Device) join() {
	d.mu.Lock()
	d.ended = true
	if d.hurry != nil {
		d.hurry()
	}
	d.mu.Unlock()
	<-d.done
	d.timed.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.giveUpSends(d.cfg.Clock())
}
