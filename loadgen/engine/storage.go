package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"ackmark/loadgen/measure"
)

// kindHeld is what Redis holds of one kind of key.
type kindHeld struct {
	keys    int64
	rows    int64 // entries or members, by XLEN, ZCARD or HLEN
	content int64 // bytes of these rows; only of tables that hold messages, copies or ids
	memory  int64 // bytes, by MEMORY USAGE
}

// table is a kind of key that exists because messages are stored.
type table struct {
	name    string
	count   string // the command that counts its rows
	content string // the script that sums up its rows' bytes; "" for none
}

// The tables, by what their keys end in. What a population needs anyway
// (members, friends, users) isn't among them.
var tables = []table{
	{"log", "XLEN", streamContent}, {"inbox", "XLEN", streamContent},
	{"copies", "ZCARD", rowContent}, {"pending", "ZCARD", rowContent},
	{"senders", "ZCARD", ""}, {"refs", "HLEN", ""}, {"storing", "HLEN", ""},
	{"fanned", "HLEN", ""}, {"sent", "HLEN", ""},
}

// Both scripts answer with where to go on ("" when that was all) and the bytes.
// ARGV: where to begin, most rows.
const (
	streamContent = `local entries = redis.call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', ARGV[2])
local n = 0
for i = 1, #entries do n = n + #entries[i][2][2] end
return {#entries == tonumber(ARGV[2]) and '(' .. entries[#entries][1] or '', n}`
	rowContent = `local rows = redis.call('ZRANGEBYLEX', KEYS[1], ARGV[1], '+', 'LIMIT', 0, ARGV[2])
local n = 0
for i = 1, #rows do n = n + #rows[i] end
return {#rows == tonumber(ARGV[2]) and '(' .. rows[#rows] or '', n}`
)

// held reads what Redis holds of each table, in all keys of the run: found by
// SCAN, so that a key that nobody thought of isn't left out. What the embedded
// store says of memory isn't Redis's, so it isn't asked.
func (s *store) held(ctx context.Context, embedded bool) (map[string]kindHeld, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	out := map[string]kindHeld{}
	var cursor uint64
	for {
		keys, next, err := s.client.Scan(ctx, cursor, s.ns+":{*", 1000).Result()
		if err != nil {
			return nil, fmt.Errorf("looking at what is stored: %w", err)
		}
		for _, t := range tables {
			var mine []string
			for _, k := range keys {
				if tableOf(k) == t.name {
					mine = append(mine, k)
				}
			}
			if err := s.weigh(ctx, t, mine, embedded, out); err != nil {
				return nil, fmt.Errorf("looking at what is stored in %s: %w", t.name, err)
			}
		}
		if cursor = next; cursor == 0 {
			return out, nil
		}
	}
}

// tableOf is what a key ends in; the time bucket of idempotent sends left out.
func tableOf(key string) string {
	_, name, _ := strings.Cut(key, "}:")
	name, _, _ = strings.Cut(name, ":")
	return name
}

// weigh adds some keys of one table. SCAN may name a key twice while a table of
// keys grows; nothing is written then but by sends, and a stock is taken between
// them.
func (s *store) weigh(ctx context.Context, t table, keys []string, embedded bool, into map[string]kindHeld) error {
	if len(keys) == 0 {
		return nil
	}
	p := s.client.Pipeline()
	type asked struct {
		memory  *redis.IntCmd
		rows    *redis.Cmd
		content *redis.Cmd
	}
	all := make([]asked, len(keys))
	for i, k := range keys {
		all[i].rows = p.Do(ctx, t.count, k)
		if !embedded {
			all[i].memory = p.MemoryUsage(ctx, k, 0) // SAMPLES 0: all of it
		}
		if t.content != "" {
			all[i].content = p.EvalRO(ctx, t.content, []string{k}, "-", rowsAtOnce)
		}
	}
	if _, err := p.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) { // a key that expired meanwhile
		return err
	}
	h := into[t.name]
	for i, k := range keys {
		rows, err := all[i].rows.Int64()
		if err != nil {
			return fmt.Errorf("%s: %w", k, err)
		}
		h.keys++
		h.rows += rows
		if m := all[i].memory; m != nil {
			h.memory += m.Val()
		}
		for answer := all[i].content; answer != nil; {
			next, n, err := contentOf(answer)
			if err != nil {
				return fmt.Errorf("%s: %w", k, err)
			}
			h.content += n
			if answer = nil; next != "" {
				answer = s.client.EvalRO(ctx, t.content, []string{k}, next, rowsAtOnce)
			}
		}
	}
	into[t.name] = h
	return nil
}

func contentOf(c *redis.Cmd) (next string, bytes int64, err error) {
	v, err := c.Slice()
	if err != nil {
		return "", 0, err
	}
	if len(v) == 2 {
		next, ok1 := v[0].(string)
		bytes, ok2 := v[1].(int64)
		if ok1 && ok2 {
			return next, bytes, nil
		}
	}
	return "", 0, fmt.Errorf("answered %v", v)
}

// usedMemory is what Redis has allocated in all; false where it doesn't tell.
func (s *store) usedMemory(ctx context.Context) (uint64, bool) {
	info, err := measure.ReadRedis(ctx, s.client)
	if err != nil || !info.HasMemory {
		return 0, false
	}
	return info.UsedMemory, true
}
