package delivery

import (
	"context"
	"maps"
	"slices"

	"ackmark/refserver/wire"
)

func (m *memStore) Remove(_ context.Context, inbox string, epoch, upTo uint64, ids []uint64) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter("remove", epoch); err != nil {
		return 0, err
	}
	c := m.conv(inbox)
	c.entries = slices.DeleteFunc(c.entries, func(e Entry) bool { return e.Seq <= upTo || slices.Contains(ids, e.Seq) })
	return c.oldest(), nil
}

// oldest is the oldest seq that is stored, 0 when none is.
func (c *memConv) oldest() uint64 {
	if len(c.entries) == 0 {
		return 0
	}
	return c.entries[0].Seq
}

func (m *memStore) ReadInbox(_ context.Context, inbox string, r InboxRead) (p InboxPart, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter("read", r.Epoch); err != nil {
		return p, err
	}
	c, size := m.conv(inbox), 0
	all := slices.Clone(c.entries)
	if r.Newest {
		slices.Reverse(all)
	}
	for _, e := range all {
		if e.Seq <= r.After || e.Seq > r.UpTo || r.Sender != "" && senderOf(e) != r.Sender {
			continue
		}
		size += len(e.Record)
		if r.All && size > r.Bytes {
			return InboxPart{}, wire.Faultf(wire.CodeTooLarge, "too large")
		}
		if !r.All && (len(p.Entries) == r.Limit || size > r.Bytes && len(p.Entries) > 0) {
			p.More = true
			break
		}
		p.Entries = append(p.Entries, e)
	}
	if r.Remove {
		c.entries = slices.DeleteFunc(c.entries, func(e Entry) bool {
			return slices.ContainsFunc(p.Entries, func(taken Entry) bool { return taken.Seq == e.Seq })
		})
	}
	if r.Newest {
		slices.Reverse(p.Entries)
	}
	p.First = c.oldest()
	return p, nil
}

func senderOf(e Entry) string {
	var v wire.DeliverView
	if err := v.Decode(e.Record); err != nil {
		panic(err)
	}
	return string(v.Sender)
}

func (m *memStore) SenderCounts(_ context.Context, inbox string) (counts []SenderCount, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter("counts", m.epoch); err != nil {
		return nil, err
	}
	by := map[string]uint64{}
	for _, e := range m.conv(inbox).entries {
		by[senderOf(e)]++
	}
	for _, sender := range slices.Sorted(maps.Keys(by)) {
		counts = append(counts, SenderCount{Sender: sender, Messages: by[sender]})
	}
	return counts, nil
}
