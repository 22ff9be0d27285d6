package delivery

import (
	"container/list"
	"context"
	"sync"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

// chunkMessages is how many seqs one read of a group's log covers. Chunks are
// aligned, so that members who ask from different places share them.
const chunkMessages = 256

// tailBytes bounds the newest messages of one group that are kept in memory.
const tailBytes = 256 << 10

// tail is the newest messages of a group, without a hole.
type tail struct {
	next  uint64 // seq after the newest one
	msgs  []push.Message
	bytes int
}

func (t *tail) reset(head uint64) { *t = tail{next: head + 1} }

// add appends a message; one that doesn't follow the newest begins a new tail.
func (t *tail) add(seq uint64, sender string, record []byte, most int) {
	if seq < t.next {
		return
	}
	if seq != t.next {
		t.msgs, t.bytes = nil, 0
	}
	t.next = seq + 1
	t.msgs = append(t.msgs, push.Message{Seq: seq, Sender: sender, Record: record})
	t.bytes += len(record)
	drop := 0
	for len(t.msgs)-drop > most || t.bytes > tailBytes && len(t.msgs)-drop > 1 {
		t.bytes -= len(t.msgs[drop].Record)
		t.msgs[drop] = push.Message{}
		drop++
	}
	t.msgs = t.msgs[drop:]
}

// read returns messages after a seq; ok is false when the tail begins later.
func (t *tail) read(after uint64, limit int) (msgs []push.Message, ok bool) {
	first := t.next - uint64(len(t.msgs))
	if after+1 < first {
		return nil, false
	}
	if after+1 >= t.next {
		return nil, true
	}
	from := t.msgs[after+1-first:]
	return append([]push.Message(nil), from[:min(limit, len(from))]...), true
}

// overOwn moves an ack on over the user's own messages that follow it, as far
// as they are in memory (see push.Member.Ack, which does it for who is online).
func (c *conversation) overOwn(user string, upTo uint64) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := c.tail.next - uint64(len(c.tail.msgs))
	for upTo+1 >= first && upTo+1 < c.tail.next && c.tail.msgs[upTo+1-first].Sender == user {
		upTo++
	}
	return upTo
}

type chunkKey struct {
	conversation string
	epoch, index uint64
}

// chunk is one read of a group's log, shared by all who ask for it.
type chunk struct {
	key   chunkKey
	ready chan struct{}
	msgs  []push.Message
	upTo  uint64 // the chunk covers its seqs up to here; less than its end when the head lay inside
	err   error
	bytes int
	elem  *list.Element
}

// chunkCache keeps the chunks that were used last, up to a number of bytes. A
// chunk is also what makes simultaneous readers share one read: they wait for
// the first one's.
type chunkCache struct {
	most int

	mu     sync.Mutex
	chunks map[chunkKey]*chunk
	recent *list.List // of *chunk, most recently used first
	bytes  int
}

func newChunkCache(most int) *chunkCache {
	return &chunkCache{most: most, chunks: make(map[chunkKey]*chunk), recent: list.New()}
}

func (cc *chunkCache) reset() {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	cc.chunks = make(map[chunkKey]*chunk)
	cc.recent.Init()
	cc.bytes = 0
}

// get returns the chunk that holds after+1, covering at least need, reading it
// with load when it isn't there.
func (cc *chunkCache) get(ctx context.Context, key chunkKey, need uint64, load func(c *chunk)) (*chunk, error) {
	for {
		cc.mu.Lock()
		c, ok := cc.chunks[key]
		if ok {
			cc.recent.MoveToFront(c.elem)
		} else {
			c = &chunk{key: key, ready: make(chan struct{})}
			c.elem = cc.recent.PushFront(c)
			cc.chunks[key] = c
		}
		cc.mu.Unlock()
		if !ok {
			load(c)
			close(c.ready)
			cc.settle(c)
		}
		select {
		case <-c.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if c.err != nil {
			return nil, c.err
		}
		if c.upTo >= need || !ok {
			return c, nil
		}
		cc.drop(c) // read before the log grew
	}
}

func (cc *chunkCache) settle(c *chunk) {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	if cc.chunks[c.key] != c {
		return
	}
	if c.err != nil {
		cc.dropLocked(c)
		return
	}
	cc.bytes += c.bytes
	for cc.bytes > cc.most && cc.recent.Len() > 1 {
		oldest := cc.recent.Back().Value.(*chunk)
		if oldest == c {
			return
		}
		cc.dropLocked(oldest)
	}
}

func (cc *chunkCache) drop(c *chunk) {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	cc.dropLocked(c)
}

func (cc *chunkCache) dropLocked(c *chunk) {
	if cc.chunks[c.key] != c {
		return
	}
	delete(cc.chunks, c.key)
	cc.recent.Remove(c.elem)
	cc.bytes -= c.bytes
}

// read returns up to limit messages of a group after a seq and up to the head,
// oldest first, and the seq that they cover.
func (s *Service) read(ctx context.Context, c *conversation, after uint64, limit int) (msgs []push.Message, upTo uint64, err error) {
	head := c.room.Head()
	for len(msgs) < limit && after < head {
		c.mu.Lock()
		part, ok := c.tail.read(after, limit-len(msgs))
		c.mu.Unlock()
		if ok {
			msgs = append(msgs, part...)
			if len(part) > 0 {
				after = part[len(part)-1].Seq
			} else {
				after = head
			}
			continue
		}
		key := chunkKey{c.name, c.epoch, after / chunkMessages}
		start := key.index * chunkMessages
		end := start + chunkMessages
		ch, err := s.cache.get(ctx, key, min(end, head), func(ch *chunk) {
			// The first reader's own deadline must not fail the others.
			readCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.SendTimeout)
			defer cancel()
			ch.msgs, ch.err = s.readStore(readCtx, c, start, chunkMessages)
			ch.upTo = min(end, head)
			for len(ch.msgs) > 0 && ch.msgs[len(ch.msgs)-1].Seq > end { // older seqs were trimmed, the read went on past the chunk
				ch.msgs = ch.msgs[:len(ch.msgs)-1]
			}
			if n := len(ch.msgs); n > 0 {
				ch.upTo = max(ch.upTo, ch.msgs[n-1].Seq)
			}
			for i := range ch.msgs {
				ch.bytes += len(ch.msgs[i].Record) + 64
			}
		})
		if err != nil {
			return nil, 0, err
		}
		took := false
		for _, m := range ch.msgs {
			if m.Seq > after && len(msgs) < limit {
				msgs = append(msgs, m)
				after = m.Seq
				took = true
			}
		}
		if len(msgs) < limit || !took {
			after = max(after, ch.upTo)
		}
	}
	return msgs, after, nil
}

func (s *Service) readStore(ctx context.Context, c *conversation, after uint64, limit int) ([]push.Message, error) {
	s.stats.logReads.Add(1)
	entries, err := s.store.Read(ctx, c.name, c.epoch, after, limit)
	if err != nil {
		return nil, err
	}
	return c.messages(entries)
}

// messages are stored entries as they are dispatched.
func (c *conversation) messages(entries []Entry) ([]push.Message, error) {
	msgs := make([]push.Message, 0, len(entries))
	for _, e := range entries {
		var v wire.DeliverView
		if err := v.Decode(e.Record); err != nil {
			return nil, wire.Faultf(wire.CodeInternal, "%s seq %d: the stored record can't be decoded: %v", c.name, e.Seq, err)
		}
		msgs = append(msgs, push.Message{Seq: e.Seq, Sender: string(v.Sender), Record: e.Record})
	}
	return msgs, nil
}

// ReadLog serves retransmissions.
func (s *Service) ReadLog(ctx context.Context, name, user string, epoch, after uint64, limit int) ([]push.Message, error) {
	c, err := s.open(ctx, name)
	if err != nil {
		return nil, err
	}
	if c.epoch != epoch {
		return nil, wire.Faultf(wire.CodeUnavailable, "%s: epoch %d has ended", name, epoch)
	}
	if c.kind == wire.KindGroup {
		return s.design.read(ctx, c, user, after, limit)
	}
	return s.readStore(ctx, c, after, limit) // an inbox: one reader, nothing to share
}
