package client

import (
	"slices"
	"strings"
	"time"

	"ackmark/loadgen/client/ackpolicy"
	"ackmark/loadgen/client/dedup"
)

// conversation is what a device knows of one group or inbox.
type conversation struct {
	name  string
	epoch uint64

	// mark is the watermark: everything up to it was shown, or isn't missing
	// (own sends, what pages covered), but for what partial says. Only it is
	// ever acked cumulatively.
	mark  uint64
	quick bool // nothing that Device.take doesn't do has to be thought of

	// partial: the conversation is live from where its head was at login on, and
	// of what waited below not all has been taken (perhaps never will be), so
	// that a cumulative ack would ack what nobody has seen
	// (tinode/tindroid#158). An inbox is acked by ids meanwhile, a group is not.
	partial bool

	// falling: an epoch began that this device learned of in passing, so it
	// doesn't know how far its watermark still holds. formerEpoch is what mark
	// belongs to. The first page of the new epoch tells. Until then everything
	// is held, and nothing is acked.
	falling bool

	inbox  bool
	fresh  bool // from Saved: what was shown is known, mark isn't
	closed bool // count-only
	opened bool // wanted open: it is opened again with each login

	unacked int // deliveries since the last ack
	batch   ackpolicy.Batch
	seen    dedup.State // what was shown
	// What a delivery touches ends here, in three cache lines.

	acked       uint64 // highest up_to sent on this connection, at least the server's cursor
	formerEpoch uint64
	top         uint64   // partial: where the head was at login
	ids         []uint64 // partial inbox: live deliveries that aren't acked

	// high is the highest seq that is known to exist from elsewhere than a
	// page; above mark, something is missing.
	high uint64
	held []held // above mark, by seq: received, but behind a gap

	unsure  int // own sends to here that have no answer yet
	gapDue  time.Duration
	pull    pull
	backlog *backlog // nil where nothing is pulled apart from the live stream
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

func (d *Device) discover(name string, epoch, mark uint64) *conversation {
	c := &conversation{
		name: name, epoch: epoch, mark: mark, seen: d.dedup.State(mark), batch: ackpolicy.NewBatch(&d.cfg.Ack),
		inbox: strings.HasPrefix(name, inboxPrefix),
	}
	d.byName[name] = c
	d.all = append(d.all, c)
	d.settle(c)
	return c
}

// inboxPrefix begins the name of a user's inbox of direct messages.
const inboxPrefix = "u:"

// settle finds out whether deliveries of a conversation may be taken in the
// quick way. It follows every change of what that depends on.
func (d *Device) settle(c *conversation) {
	c.quick = d.taker != nil && d.armed == NoCrash && !c.falling && !c.partial && len(c.held) == 0
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

// pass moves the watermark to seq: nothing up to there is missing.
func (c *conversation) pass(seq uint64) {
	if seq > c.mark {
		c.seen.Cover(c.mark, seq)
		c.mark = seq
	}
}

// beginEpoch forgets what seqs meant.
func (c *conversation) beginEpoch(epoch uint64) {
	c.epoch = epoch
	c.high = 0
	c.held = nil
	c.ids = nil
	c.acked = 0
	c.gapDue = 0
}

// disconnected forgets what only a connection gives sense to.
func (c *conversation) disconnected() {
	c.batch.Flush(ackpolicy.ByClose)
	c.acked, c.gapDue, c.ids = 0, 0, nil
	c.pull, c.backlog = pull{}, nil
}
