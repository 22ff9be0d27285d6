package delivery

import (
	"context"
	"slices"
)

// newIDs is the ladder's g2 and g3: a group's message is stored once and each
// recipient has an id of it, for who is offline or for everybody. A page is
// read in two steps, ids and then bodies; a body goes with its last id.
func newIDs(s *Service) groupDesign {
	d := &ids{s}
	return &rowsDesign{s: s, part: d.part}
}

type ids struct{ s *Service }

// bodiesAtOnce is the most bodies that are read with one command.
const bodiesAtOnce = 1000

// part reads ids, then their bodies. Where messages go as they are pulled, the
// ids of what is returned are removed last: what doesn't fit stays, and of two
// pulls at once each gets what it has removed itself.
func (d *ids) part(ctx context.Context, c *conversation, user string, r RowRead) ([]Entry, uint64, error) {
	seqs, more, err := d.s.store.ReadIDs(ctx, c.name, user, r)
	if err != nil || len(seqs) == 0 {
		return nil, 0, err
	}
	entries, err := d.bodies(ctx, c, seqs, r)
	if err != nil {
		return nil, 0, err
	}
	entries, cut := fit(entries, r)
	if cut {
		more = true
		if r.Newest {
			at, _ := slices.BinarySearch(seqs, entries[0].Seq)
			seqs = seqs[at:]
		} else {
			at, _ := slices.BinarySearch(seqs, entries[len(entries)-1].Seq)
			seqs = seqs[:at+1]
		}
	}
	edge := uint64(0)
	switch {
	case more && r.Newest:
		edge = seqs[0]
	case more:
		edge = seqs[len(seqs)-1]
	}
	if r.Remove {
		taken, err := d.s.store.TakeIDs(ctx, c.name, user, c.epoch, seqs)
		if err != nil {
			return nil, 0, err
		}
		entries = slices.DeleteFunc(entries, func(e Entry) bool {
			_, mine := slices.BinarySearch(taken, e.Seq)
			return !mine
		})
	}
	return entries, edge, nil
}

func (d *ids) bodies(ctx context.Context, c *conversation, seqs []uint64, r RowRead) (entries []Entry, err error) {
	size := 0
	for some := range slices.Chunk(seqs, bodiesAtOnce) {
		part, err := d.s.store.Bodies(ctx, c.name, c.epoch, some)
		if err != nil {
			return nil, err
		}
		for _, e := range part {
			size += len(e.Record)
		}
		if r.All && size > r.Bytes {
			return nil, TooLargeForOne(c.name, r.Bytes)
		}
		entries = append(entries, part...)
	}
	return entries, nil
}

// fit drops what exceeds the bytes of a part, at its far end; one message stays
// whatever its size.
func fit(entries []Entry, r RowRead) (rest []Entry, cut bool) {
	size := 0
	for i := range entries {
		at := i
		if r.Newest {
			at = len(entries) - 1 - i
		}
		if size += len(entries[at].Record); size <= r.Bytes || i == 0 {
			continue
		}
		if r.Newest {
			return entries[at+1:], true
		}
		return entries[:at], true
	}
	return entries, false
}
