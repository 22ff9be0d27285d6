package engine

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"ackmark/loadgen/population"
	"ackmark/profiles"
	"ackmark/refserver/wire"
)

// fansOut tells whether the design of groups writes a row per recipient.
func (s *store) fansOut() bool {
	return s.design.Group == profiles.GroupCopies || s.design.Group == profiles.GroupIDs
}

// timed tells whether cursors of groups are times instead of seqs.
func (s *store) timed() bool {
	return s.design.Cursor == profiles.CursorTimeAfter || s.design.Cursor == profiles.CursorTimeFrom
}

// rowsTable is where a user's rows of groups are.
func (s *store) rowsTable() string {
	if s.design.Group == profiles.GroupIDs {
		return "pending"
	}
	return "copies"
}

// rowsScript gives a user's rows of groups as runs of seqs, so that bodies and
// single rows needn't leave Redis: a backlog may be millions of them.
// Answer: the member after which to go on, "" when that was all; then "GROUP FIRST LAST", …
// A record never begins below a space, so "!" lies behind all that a row may hold.
var rowsScript = `local rows = redis.call('ZRANGEBYLEX', KEYS[1], ARGV[1], '+', 'LIMIT', 0, ARGV[2])
local out, group, first, last = {''}, nil, 0, 0
local function close()
  if group then out[#out + 1] = group .. ' ' .. string.format('%.0f', first) .. ' ' .. string.format('%.0f', last) end
end
for i = 1, #rows do
  local g, seq = string.match(rows[i], '^(%S+) (%d+)')
  if not g then return redis.error_reply('row ' .. rows[i] .. ' is not GROUP SEQ') end
  seq = tonumber(seq)
  if g == group and seq == last + 1 then last = seq else close(); group, first, last = g, seq, seq end
end
close()
if #rows == tonumber(ARGV[2]) then out[1] = '(' .. string.match(rows[#rows], '^%S+ %d+') .. '!' end
return out`

// leftScript gives the seqs of a stream as runs. Answer: as rowsScript, without groups.
var leftScript = `local entries = redis.call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', ARGV[2])
local out, first, last = {''}, nil, 0
local function close()
  if first then out[#out + 1] = string.format('%.0f', first) .. ' ' .. string.format('%.0f', last) end
end
for i = 1, #entries do
  local seq = tonumber(string.sub(entries[i][1], 3))
  if first and seq == last + 1 then last = seq else close(); first, last = seq, seq end
end
close()
if #entries == tonumber(ARGV[2]) then out[1] = '(' .. entries[#entries][1] end
return out`

// rowsAtOnce bounds what one script reads.
const rowsAtOnce = 2000

// scan calls a script until it has given everything.
func (s *store) scan(ctx context.Context, script, key, from string, take func(words []string) error) error {
	for from != "" {
		answer, err := s.client.EvalRO(ctx, script, []string{key}, from, rowsAtOnce).StringSlice()
		if err != nil {
			return err
		}
		if len(answer) == 0 {
			return fmt.Errorf("reading %s: no answer", key)
		}
		for _, line := range answer[1:] {
			if err := take(strings.Fields(line)); err != nil {
				return fmt.Errorf("reading %s: %q: %w", key, line, err)
			}
		}
		from = answer[0]
	}
	return nil
}

// waiting is what waits of groups for users, by user and group's name.
type waiting struct {
	of      map[int]map[string]runs
	doubled uint64 // rows that are there twice, which only one of two equal fan-outs may have written
}

// rows reads what waits for each member of the groups for which want is true.
func (s *store) rows(ctx context.Context, pop *population.Population, want func(conversation int) bool) (waiting, error) {
	out := waiting{of: map[int]map[string]runs{}}
	for g := range pop.Groups {
		if !want(g) {
			continue
		}
		for _, u := range pop.Groups[g].Members {
			if out.of[u] != nil {
				continue
			}
			mine := map[string]runs{}
			err := s.scan(ctx, rowsScript, s.key(wire.Inbox(pop.Users[u]), s.rowsTable()), "-", func(w []string) error {
				if len(w) != 3 {
					return errRun
				}
				first, last, err := seqPair(w[1], w[2])
				group := mine[w[0]]
				if n := len(group); n > 0 && first <= group[n-1].last {
					out.doubled++ // runs end at a row that comes again
					if first++; first > last {
						return err
					}
				}
				group.add(first, last)
				mine[w[0]] = group
				return err
			})
			if err != nil {
				return waiting{}, fmt.Errorf("auditing the store: %w", err)
			}
			out.of[u] = mine
		}
	}
	return out, nil
}

// left reads which seqs are left of a stream. Without holes both ends tell.
func (s *store) left(ctx context.Context, log string, h *holding) (runs, error) {
	var left runs
	switch h.Count {
	case 0:
		return nil, nil
	case h.Head - h.First + 1:
		return append(left, seqRun{h.First, h.Head}), nil
	}
	err := s.scan(ctx, leftScript, log, "-", func(w []string) error {
		if len(w) != 2 {
			return errRun
		}
		first, last, err := seqPair(w[0], w[1])
		left.add(first, last)
		return err
	})
	return left, err
}

// times reads when the messages of a log were stored. A log has no holes.
func (s *store) times(ctx context.Context, log string, first, count uint64) ([]uint64, error) {
	times := make([]uint64, 0, count)
	from := "-"
	for {
		entries, err := s.client.XRangeN(ctx, log, from, "+", rowsAtOnce).Result()
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			record, _ := e.Values["r"].(string)
			var v wire.DeliverView
			if err := v.Decode([]byte(record)); err != nil {
				return nil, fmt.Errorf("entry %s of %s: %w", e.ID, log, err)
			}
			if want := "0-" + strconv.FormatUint(first+uint64(len(times)), 10); e.ID != want {
				return nil, fmt.Errorf("entry %s of %s: want %s", e.ID, log, want)
			}
			times = append(times, uint64(v.TimeMS))
		}
		if len(entries) < rowsAtOnce {
			return times, nil
		}
		from = "(" + entries[len(entries)-1].ID
	}
}

var errRun = fmt.Errorf("want a run of seqs")

func seqPair(a, b string) (first, last uint64, err error) {
	first, err1 := strconv.ParseUint(a, 10, 64)
	last, err2 := strconv.ParseUint(b, 10, 64)
	return first, last, cmp.Or(err1, err2)
}
