package client

import (
	"slices"
	"time"

	"ackmark/loadgen/client/ackpolicy"
)

// conversation is what a device knows of one group or inbox.
type conversation struct {
	name  string
	epoch uint64

	// mark is the watermark: everything up to it was shown, or isn't missing
	// (own sends, what pages covered). Only it is ever acked.
	mark uint64
	// high is the highest seq that is known to exist from elsewhere than a
	// page; above mark, something is missing.
	high uint64
	held []held // above mark, by seq: received, but behind a gap

	// falling: an epoch began that this device learned of in passing, so it
	// doesn't know how far its watermark still holds. formerEpoch is what mark
	// belongs to. The first page of the new epoch tells. Until then everything
	// is held, and nothing is acked.
	falling     bool
	formerEpoch uint64

	recent  recent
	batch   ackpolicy.Batch
	acked   uint64 // highest up_to sent on this connection, at least the server's cursor
	unacked int    // deliveries since the last ack
	unsure  int    // own sends to here that have no answer yet
	gapDue  time.Duration
	pull    pull
}

// held is a message that waits for a gap before it to be filled.
type held struct {
	seq    uint64
	own    bool // the device's own send: nothing to show
	at     time.Duration
	path   Path
	bytes  int
	sender []byte
	id     []byte
}

// find returns where seq is, or would be, in held.
func (c *conversation) find(seq uint64) (int, bool) {
	return slices.BinarySearchFunc(c.held, seq, func(h held, s uint64) int {
		switch {
		case h.seq < s:
			return -1
		case h.seq > s:
			return 1
		}
		return 0
	})
}

// missing is the number of seqs between mark and seq that aren't held.
func (c *conversation) missing(seq uint64) uint64 {
	i, _ := c.find(seq)
	return seq - c.mark - 1 - uint64(i)
}

// beginEpoch forgets what seqs meant and makes identities count.
func (c *conversation) beginEpoch(epoch uint64) {
	c.epoch = epoch
	c.high = 0
	c.held = nil
	c.acked = 0
	c.gapDue = 0
	c.recent.seal()
}
