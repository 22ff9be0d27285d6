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
)

// store reads what the server has stored, by the layout of keys that package
// redisstore documents:
//
//	NS:{g:ID}:log      stream, entry 0-SEQ       NS:{g:ID}:members  zset, score = cursor
//	NS:{u:ID}:inbox    stream, entry 0-SEQ       NS:{…}:meta        hash: epoch, base
//	NS:epoch           hash: epoch
//
// It only reads. The audit would be worth little if it asked the server, whose
// account is what is being audited.
type store struct {
	client *redis.Client
	ns     string
}

func openStore(url, ns string) (*store, error) {
	c, err := launch.Connect(url)
	if err != nil {
		return nil, err
	}
	return &store{client: c, ns: ns}, nil
}

func (s *store) close() error { return s.client.Close() }

func (s *store) key(conversation, table string) string {
	return s.ns + ":{" + conversation + "}:" + table
}

// holding is one conversation as the store has it.
type holding struct {
	ledger.Stored
	cursors map[string]uint64 // by user's name; groups only
}

const storeTimeout = 30 * time.Second

// read reads the conversations for which want is true; indexes are those of
// the population.
func (s *store) read(ctx context.Context, pop *population.Population, want func(conversation int) bool) (map[int]holding, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	epoch, err := s.client.HGet(ctx, s.ns+":epoch", "epoch").Uint64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, fmt.Errorf("auditing the store: reading its epoch: %w", err)
	}
	var wanted []int
	for c := range pop.Conversations() {
		if want(c) {
			wanted = append(wanted, c)
		}
	}
	out := make(map[int]holding, len(wanted))
	for part := range slices.Chunk(wanted, conversationsAtOnce) {
		if err := s.some(ctx, pop, part, epoch, out); err != nil {
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
}

func (s *store) some(ctx context.Context, pop *population.Population, conversations []int, epoch uint64, into map[int]holding) error {
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
		a.meta = p.HMGet(ctx, s.key(a.name, "meta"), "epoch", "base")
		all[i] = a
	}
	if _, err := p.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	for i, c := range conversations {
		h, err := s.holding(ctx, &all[i], epoch)
		if err != nil {
			return fmt.Errorf("reading %s: %w", all[i].name, err)
		}
		into[c] = h
	}
	return nil
}

func (s *store) holding(ctx context.Context, a *asked, epoch uint64) (holding, error) {
	h := holding{Stored: ledger.Stored{Epoch: epoch, Count: uint64(max(a.count.Val(), 0))}}
	var err error
	if m := a.newest.Val(); len(m) > 0 {
		if h.Head, err = seqOf(m[0].ID); err != nil {
			return holding{}, err
		}
		if h.First, err = seqOf(a.oldest.Val()[0].ID); err != nil {
			return holding{}, err
		}
	} else if h.Head, err = s.lastSeq(ctx, a.log); err != nil {
		return holding{}, err
	} else {
		h.First = h.Head + 1
	}
	if v := a.meta.Val(); len(v) == 2 {
		began, err1 := strconv.ParseUint(fmt.Sprint(v[0]), 10, 64)
		base, err2 := strconv.ParseUint(fmt.Sprint(v[1]), 10, 64)
		if err1 == nil && err2 == nil {
			h.Bases = []ledger.Base{{Epoch: began, Head: base}}
		}
	}
	if a.members != nil {
		h.cursors = make(map[string]uint64, len(a.members.Val()))
		for _, z := range a.members.Val() {
			user, _ := z.Member.(string)
			h.cursors[user] = uint64(z.Score)
		}
	}
	return h, nil
}

// lastSeq is the seq that an empty stream remembers: an inbox from which
// everything was acked.
func (s *store) lastSeq(ctx context.Context, log string) (uint64, error) {
	n, err := s.client.Exists(ctx, log).Result()
	if err != nil || n == 0 {
		return 0, err
	}
	answer, err := s.client.Do(ctx, "XINFO", "STREAM", log).Result()
	if err != nil {
		return 0, err
	}
	if id, ok := field(answer, "last-generated-id").(string); ok {
		return seqOf(id)
	}
	return 0, errors.New("XINFO STREAM names no last-generated-id")
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
