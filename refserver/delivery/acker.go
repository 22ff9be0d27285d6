package delivery

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"ackmark/refserver/wire"
)

// flushAtOnce is how many conversations have their acks written side by side.
const flushAtOnce = 8

// maxSpare is the most cursors of a set that is kept for later rounds.
const maxSpare = 4096

// acker gathers acks and writes those of a moment with one command per
// conversation. What it holds may be lost in a crash: the messages are then
// delivered again, never lost.
type acker struct {
	s     *Service
	every time.Duration
	wake  chan struct{} // capacity 1: something is dirty

	mu       sync.Mutex
	busy     bool // flush is at it
	dirty    map[*conversation]*ackSet
	flushing map[*conversation]*ackSet
	spare    []*ackSet // of groups, empty: a storm's cursors find their place made
}

func newAcker(s *Service) *acker {
	every := s.cfg.AckJoin
	if s.cfg.AckFlush > 0 {
		every = s.cfg.AckFlush
	}
	return &acker{
		s: s, every: every, wake: make(chan struct{}, 1),
		dirty: make(map[*conversation]*ackSet), flushing: make(map[*conversation]*ackSet),
	}
}

// add notes that user has everything up to a seq. written, unless nil, is
// called once that is stored.
func (a *acker) add(c *conversation, user string, upTo uint64, written func(error)) {
	a.mu.Lock()
	set := a.setLocked(c)
	if c.kind == wire.KindInbox {
		set.upTo = max(set.upTo, upTo)
	} else {
		set.cursors[user] = max(set.cursors[user], upTo)
	}
	if written != nil {
		set.written = append(set.written, written)
	}
	a.mu.Unlock()
	a.signal()
}

// addIDs notes acks by id in an inbox.
func (a *acker) addIDs(c *conversation, ids []uint64, written func(error)) {
	a.mu.Lock()
	set := a.setLocked(c)
	if set.ids == nil {
		set.ids = make(map[uint64]struct{}, len(ids))
	}
	for _, id := range ids {
		set.ids[id] = struct{}{}
	}
	if written != nil {
		set.written = append(set.written, written)
	}
	a.mu.Unlock()
	a.signal()
}

func (a *acker) setLocked(c *conversation) *ackSet {
	set := a.dirty[c]
	if set == nil {
		last := len(a.spare) - 1
		switch {
		case c.kind != wire.KindGroup:
			set = &ackSet{}
		case last >= 0:
			set, a.spare = a.spare[last], a.spare[:last]
		default:
			set = &ackSet{cursors: make(map[string]uint64)}
		}
		a.dirty[c] = set
	}
	return set
}

// recycleLocked keeps a set that is written for a later round.
func (a *acker) recycleLocked(set *ackSet) {
	if set.cursors == nil || len(set.cursors) > maxSpare || len(a.spare) >= flushAtOnce {
		return
	}
	clear(set.cursors)
	clear(set.moves)
	set.moves = set.moves[:0]
	a.spare = append(a.spare, set)
}

func (a *acker) signal() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// cursor returns the newest cursor of a user that is not known to be stored
// yet, 0 when there is none.
func (a *acker) cursor(c *conversation, user string) (cursor uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, sets := range []map[*conversation]*ackSet{a.dirty, a.flushing} {
		if set := sets[c]; set != nil {
			cursor = max(cursor, set.cursors[user], set.upTo)
		}
	}
	return cursor
}

// inbox returns what of an inbox is acked and not known to be gone from the store
// yet: everything up to a seq, and ids.
func (a *acker) inbox(c *conversation) (upTo uint64, ids map[uint64]struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, sets := range []map[*conversation]*ackSet{a.dirty, a.flushing} {
		set := sets[c]
		if set == nil {
			continue
		}
		upTo = max(upTo, set.upTo)
		if len(set.ids) > 0 && ids == nil {
			ids = make(map[uint64]struct{}, len(set.ids))
		}
		maps.Copy(ids, set.ids)
	}
	return upTo, ids
}

// waiting says whether acks of a conversation are not stored yet.
func (a *acker) waiting(c *conversation) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.dirty[c] != nil || a.flushing[c] != nil
}

// reset drops what waits: it belongs to an epoch that has ended.
func (a *acker) reset() {
	a.mu.Lock()
	old := a.dirty
	a.dirty = make(map[*conversation]*ackSet)
	a.mu.Unlock()
	for _, set := range old {
		set.tell(wire.Faultf(wire.CodeUnavailable, "the store restarted before the ack was stored"))
	}
}

// run writes acks until ctx ends. Between two rounds acks gather for AckJoin,
// or AckFlush when that is set.
func (a *acker) run(ctx context.Context) {
	gather := time.NewTimer(a.every)
	gather.Stop()
	defer gather.Stop()
	pause, failing := a.every, false
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.wake:
		}
		gather.Reset(pause)
		select {
		case <-ctx.Done():
			return
		case <-gather.C:
		}
		err := a.flush(ctx)
		switch {
		case err == nil && failing:
			a.s.log.Info("acks are stored again")
			pause, failing = a.every, false
		case err != nil && !failing:
			a.s.log.Warn("acks can't be stored, they are tried again", "error", err)
			failing = true
		}
		if failing {
			pause = min(2*pause, max(maxAckPause, a.every))
		}
	}
}

// maxAckPause bounds how far the pause between two tries doubles while the
// store refuses acks.
const maxAckPause = time.Second

// drain writes what is left.
func (a *acker) drain(ctx context.Context) error {
	var err error
	for {
		a.mu.Lock()
		left, busy := len(a.dirty), a.busy
		a.mu.Unlock()
		if left == 0 && !busy {
			return nil
		}
		if left > 0 {
			err = a.flush(ctx)
		}
		select {
		case <-ctx.Done():
			if err == nil {
				err = ctx.Err()
			}
			return err
		case <-time.After(time.Millisecond):
		}
	}
}

// flush writes everything that waits, one command per conversation. What
// can't be written stays, to be tried again in the next round.
func (a *acker) flush(ctx context.Context) error {
	a.mu.Lock()
	if a.busy { // the loop is at it, drain waits for it
		a.mu.Unlock()
		return nil
	}
	a.busy = true
	a.flushing, a.dirty = a.dirty, a.flushing
	batch := make([]*conversation, 0, len(a.flushing))
	for c := range a.flushing {
		batch = append(batch, c)
	}
	a.mu.Unlock()

	var wg sync.WaitGroup
	slots := make(chan struct{}, flushAtOnce)
	errs := make([]error, len(batch))
	for i, c := range batch {
		slots <- struct{}{}
		wg.Go(func() {
			errs[i] = a.flushOne(ctx, c)
			<-slots
		})
	}
	wg.Wait()

	a.mu.Lock()
	a.busy = false
	a.mu.Unlock()
	var failed error
	for _, err := range errs {
		if err != nil {
			failed = err
		}
	}
	if failed != nil {
		a.signal()
	}
	return failed
}

// flushOne writes the acks of a conversation. Who waits for them is told last:
// a cursor that is read from then on is the one that is stored, which needn't be
// the seq that waited (see design_cursor_time.go).
func (a *acker) flushOne(ctx context.Context, c *conversation) error {
	a.mu.Lock()
	set := a.flushing[c]
	a.mu.Unlock()
	err := a.write(ctx, c, set)
	a.mu.Lock()
	delete(a.flushing, c)
	if err != nil && a.s.current(c) {
		a.setLocked(c).merge(set)
	}
	waiting := ackSet{written: set.written}
	set.written = nil
	a.recycleLocked(set)
	a.mu.Unlock()
	waiting.tell(err)
	return err
}

func (a *acker) write(ctx context.Context, c *conversation, set *ackSet) error {
	var err error
	if c.kind == wire.KindInbox {
		ids := make([]uint64, 0, len(set.ids))
		for id := range set.ids {
			ids = append(ids, id)
		}
		head, first := c.room.Head(), uint64(0)
		first, err = a.s.store.Remove(ctx, c.name, c.epoch, set.upTo, ids)
		if err == nil {
			c.storedFrom(first, head)
		}
	} else {
		set.moves = slices.Grow(set.moves[:0], len(set.cursors))
		for user, upTo := range set.cursors {
			set.moves = append(set.moves, Move{User: user, UpTo: upTo})
		}
		err = a.s.design.acked(ctx, c, set.moves)
	}
	return err
}
