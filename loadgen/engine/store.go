package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ackmark/loadgen/launch"
	"ackmark/loadgen/ledger"
	"ackmark/loadgen/population"
	"ackmark/profiles"
)

// store reads what the server has stored, by the layout of keys that package
// redisstore documents:
//
//	NS:{g:ID}:log      stream, entry 0-SEQ       NS:{g:ID}:members  zset, score = cursor
//	NS:{u:ID}:inbox    stream, entry 0-SEQ       NS:{…}:meta        hash: epoch, base; seq in copies, ids
//	NS:{u:ID}:copies   zset, "g:ID SEQ16 RECORD" NS:{u:ID}:pending  zset, "g:ID SEQ16"
//	NS:{g:ID}:refs     hash, seq → ids left      NS:{g:ID}:storing  hash, seq → … while a fan-out runs
//	NS:epoch           hash: epoch
//
// It only reads. The audit would be worth little if it asked the server, whose
// account is what is being audited.
type store struct {
	client *redis.Client
	ns     string
	design profiles.Server // what is stored of a message, and for whom
}

func openStore(url, ns string, design profiles.Server) (*store, error) {
	c, err := launch.Connect(url)
	if err != nil {
		return nil, err
	}
	return &store{client: c, ns: ns, design: design}, nil
}

func (s *store) close() error { return s.client.Close() }

func (s *store) key(conversation, table string) string {
	return s.ns + ":{" + conversation + "}:" + table
}

// holding is one conversation as the store has it.
type holding struct {
	ledger.Stored
	cursors map[string]uint64 // by user's name; groups only
	left    runs              // what is left of a stream that may have holes: an inbox, the bodies of design ids
	senders uint64            // rows of an inbox's index (receiver, sender)
	times   []uint64          // when each message from First on was stored, Unix ms; where cursors are times
}

// epoch is the one that the store is in now.
func (s *store) epoch(ctx context.Context) (uint64, error) {
	epoch, err := s.client.HGet(ctx, s.ns+":epoch", "epoch").Uint64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return 0, fmt.Errorf("reading the store's epoch: %w", err)
	}
	return epoch, nil
}

const storeTimeout = 30 * time.Second

// read reads the conversations for which want is true; indexes are those of
// the population. Deep also tells what lies between both ends of a log, which
// may mean to read it from end to end.
func (s *store) read(ctx context.Context, pop *population.Population, want func(conversation int) bool, deep bool) (map[int]holding, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	epoch, err := s.epoch(ctx)
	if err != nil {
		return nil, fmt.Errorf("auditing the store: %w", err)
	}
	var wanted []int
	for c := range pop.Conversations() {
		if want(c) {
			wanted = append(wanted, c)
		}
	}
	out := make(map[int]holding, len(wanted))
	for part := range slices.Chunk(wanted, conversationsAtOnce) {
		if err := s.some(ctx, pop, part, epoch, deep, out); err != nil {
			return nil, fmt.Errorf("auditing the store: %w", err)
		}
	}
	return out, nil
}

// conversationsAtOnce share a round trip.
const conversationsAtOnce = 200

// asked is what was asked about one conversation.
type asked struct {
	name, log      string
	count          *redis.IntCmd
	oldest, newest *redis.XMessageSliceCmd
	meta           *redis.SliceCmd
	members        *redis.ZSliceCmd // nil for an inbox
	senders        *redis.IntCmd    // of an inbox that has an index
	info           *redis.Cmd       // nil for a group, whose head is named by its newest entry or its meta
}

func (s *store) some(ctx context.Context, pop *population.Population, conversations []int, epoch uint64, deep bool, into map[int]holding) error {
	p := s.client.Pipeline()
	all := make([]asked, len(conversations))
	for i, c := range conversations {
		a := asked{name: pop.Conversation(c)}
		a.log = s.key(a.name, "inbox")
		if c < len(pop.Groups) {
			a.log = s.key(a.name, "log")
			a.members = p.ZRangeWithScores(ctx, s.key(a.name, "members"), 0, -1)
		}
		a.count = p.XLen(ctx, a.log)
		a.oldest, a.newest = p.XRangeN(ctx, a.log, "-", "+", 1), p.XRevRangeN(ctx, a.log, "+", "-", 1)
		if a.members == nil && s.design.SenderIndex == profiles.On {
			a.senders = p.ZCard(ctx, s.key(a.name, "senders"))
		}
		if a.members == nil { // the newest entry may be gone, the stream remembers it
			a.info = p.Do(ctx, "XINFO", "STREAM", a.log)
		}
		a.meta = p.HMGet(ctx, s.key(a.name, "meta"), "epoch", "base", "seq")
		all[i] = a
	}
	var answered redis.Error
	if _, err := p.Exec(ctx); err != nil && !errors.As(err, &answered) {
		return err
	}
	for i, c := range conversations {
		if err := all[i].failed(); err != nil {
			return fmt.Errorf("reading %s: %w", all[i].name, err)
		}
		h, err := s.holding(&all[i], epoch)
		if err == nil && deep {
			err = s.between(ctx, &all[i], &h)
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", all[i].name, err)
		}
		into[c] = h
	}
	return nil
}

func (s *store) holding(a *asked, epoch uint64) (holding, error) {
	h := holding{Stored: ledger.Stored{Epoch: epoch, Count: uint64(max(a.count.Val(), 0))}}
	var err error
	if m := a.newest.Val(); len(m) > 0 {
		if h.Head, err = seqOf(m[0].ID); err != nil {
			return holding{}, err
		}
		if h.First, err = seqOf(a.oldest.Val()[0].ID); err != nil {
			return holding{}, err
		}
	}
	if a.info != nil && a.info.Err() == nil {
		id, _ := field(a.info.Val(), "last-generated-id").(string)
		if h.Head, err = seqOf(id); err != nil {
			return holding{}, err
		}
	}
	if h.Count == 0 {
		h.First = h.Head + 1
	}
	if v := a.meta.Val(); len(v) == 3 {
		if s.fansOut() && a.members != nil && v[2] != nil { // no log has to know the head
			if h.Head, err = strconv.ParseUint(fmt.Sprint(v[2]), 10, 64); err != nil {
				return holding{}, fmt.Errorf("the last seq of %s: %w", a.name, err)
			}
			if h.Count == 0 {
				h.First = h.Head + 1
			}
		}
		began, err1 := strconv.ParseUint(fmt.Sprint(v[0]), 10, 64)
		base, err2 := strconv.ParseUint(fmt.Sprint(v[1]), 10, 64)
		if err1 == nil && err2 == nil {
			h.Bases = []ledger.Base{{Epoch: began, Head: base}}
		}
		if began < epoch { // nothing has touched it in this epoch: what it has is what an earlier one has left
			h.Bases = append(h.Bases, ledger.Base{Epoch: epoch, Head: h.Head})
		}
	}
	if a.members != nil {
		h.cursors = make(map[string]uint64, len(a.members.Val()))
		for _, z := range a.members.Val() {
			user, _ := z.Member.(string)
			h.cursors[user] = uint64(z.Score)
		}
	}
	if a.senders != nil {
		h.senders = uint64(max(a.senders.Val(), 0))
	}
	return h, nil
}

// between reads what the ends of a log don't tell.
func (s *store) between(ctx context.Context, a *asked, h *holding) (err error) {
	switch {
	case a.members != nil && s.timed():
		h.times, err = s.times(ctx, a.log, h.First, h.Count)
	case a.members == nil, s.design.Group == profiles.GroupIDs:
		h.left, err = s.left(ctx, a.log, h)
	}
	return err
}

// failed is the first error among the answers. There is no stream before the
// first message, and XINFO says so.
func (a *asked) failed() error {
	for _, c := range []redis.Cmder{a.count, a.oldest, a.newest, a.meta} {
		if err := c.Err(); err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
	}
	if a.members != nil && a.members.Err() != nil {
		return a.members.Err()
	}
	if a.senders != nil && a.senders.Err() != nil {
		return a.senders.Err()
	}
	if a.info != nil && a.info.Err() != nil && !strings.Contains(a.info.Err().Error(), "no such key") {
		return a.info.Err()
	}
	return nil
}

// field finds a value by its name in an answer that is a map, or, of a store
// that speaks the older protocol, a list of names and values.
func field(answer any, name string) any {
	switch v := answer.(type) {
	case map[any]any:
		return v[name]
	case []any:
		for i := 0; i+1 < len(v); i += 2 {
			if v[i] == name {
				return v[i+1]
			}
		}
	}
	return nil
}

func seqOf(id string) (uint64, error) {
	text, ok := strings.CutPrefix(id, "0-")
	seq, err := strconv.ParseUint(text, 10, 64)
	if !ok || err != nil {
		return 0, fmt.Errorf("stream id %q isn't 0-SEQ", id)
	}
	return seq, nil
}
