package delivery

import (
	"context"
	"slices"
)

// memRows are the rows of members in a memStore: copies, or ids with their
// bodies at hand.
type memRows struct {
	cfg    Config
	byUser map[string]map[string][]Entry // user → group → rows
	takes  []uint64                      // seqs that were removed as they were pulled, in order

	beforeAppended func(a *Append) // runs once the rows are written
}

func (r *memRows) keep() bool { return r.cfg.Group == GroupCopies || r.cfg.Group == GroupIDs }

func (m *memStore) storeRows(a *Append, members map[string]uint64) {
	var reached map[string]struct{}
	if m.rows.cfg.StoreFor == StoreForOffline {
		reached = m.sink.Ahead(a)
	}
	for user := range members {
		if _, ok := reached[user]; ok || user == a.Sender {
			continue
		}
		if m.rows.byUser == nil {
			m.rows.byUser = map[string]map[string][]Entry{}
		}
		if m.rows.byUser[user] == nil {
			m.rows.byUser[user] = map[string][]Entry{}
		}
		m.rows.byUser[user][a.Conversation] = append(m.rows.byUser[user][a.Conversation], Entry{Seq: a.Seq, Record: a.Record})
	}
	if m.rows.beforeAppended != nil {
		m.rows.beforeAppended(a)
	}
}

// stored returns the seqs that a user has rows of.
func (m *memStore) stored(user, group string) []uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	seqs := []uint64{}
	for _, e := range m.rows.byUser[user][group] {
		seqs = append(seqs, e.Seq)
	}
	return seqs
}

func (m *memStore) Rows(_ context.Context, user string, epoch uint64, groups []string) ([]Rows, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter("rows", epoch); err != nil {
		return nil, err
	}
	out := make([]Rows, len(groups))
	for i, g := range groups {
		if rows := m.rows.byUser[user][g]; len(rows) > 0 {
			out[i] = Rows{First: rows[0].Seq, Count: uint64(len(rows))}
		}
	}
	return out, nil
}

func (m *memStore) RowsOf(ctx context.Context, group, user string) (Rows, error) {
	if _, err := m.Cursor(ctx, group, user); err != nil {
		return Rows{}, err
	}
	rows, err := m.Rows(ctx, user, m.epoch, []string{group})
	if err != nil {
		return Rows{}, err
	}
	return rows[0], nil
}

func (m *memStore) ReadCopies(_ context.Context, group, user string, r RowRead) ([]Entry, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter("rows read", r.Epoch); err != nil {
		return nil, false, err
	}
	all := m.rows.byUser[user][group]
	part, size, more := []Entry{}, 0, false
	for i := range all {
		e := all[i]
		if r.Newest {
			e = all[len(all)-1-i]
		}
		if e.Seq <= r.After || e.Seq > r.UpTo {
			continue
		}
		size += len(e.Record)
		if r.All && size > r.Bytes {
			return nil, false, TooLargeForOne(group, r.Bytes)
		}
		if !r.All && (len(part) == r.Limit || size > r.Bytes && len(part) > 0) {
			more = true
			break
		}
		part = append(part, e)
	}
	if r.Newest {
		slices.Reverse(part)
	}
	if r.Remove {
		m.take(group, user, part)
	}
	return part, more, nil
}

func (m *memStore) take(group, user string, part []Entry) (taken []uint64) {
	if m.rows.byUser[user] == nil {
		return nil
	}
	m.rows.byUser[user][group] = slices.DeleteFunc(m.rows.byUser[user][group], func(e Entry) bool {
		gone := slices.ContainsFunc(part, func(p Entry) bool { return p.Seq == e.Seq })
		if gone {
			taken = append(taken, e.Seq)
		}
		return gone
	})
	m.rows.takes = append(m.rows.takes, taken...)
	return taken
}

func (m *memStore) ReadIDs(ctx context.Context, group, user string, r RowRead) ([]uint64, bool, error) {
	r.Remove, r.Bytes = false, 1<<30
	rows, more, err := m.ReadCopies(ctx, group, user, r)
	ids := []uint64{}
	for _, e := range rows {
		ids = append(ids, e.Seq)
	}
	return ids, more, err
}

func (m *memStore) Bodies(_ context.Context, group string, epoch uint64, ids []uint64) (out []Entry, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter("bodies", epoch); err != nil {
		return nil, err
	}
	for _, e := range m.conv(group).entries {
		if slices.Contains(ids, e.Seq) {
			out = append(out, e)
		}
	}
	return out, nil
}

func (m *memStore) TakeIDs(_ context.Context, group, user string, epoch uint64, ids []uint64) ([]uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter("take", epoch); err != nil {
		return nil, err
	}
	part := []Entry{}
	for _, id := range ids {
		part = append(part, Entry{Seq: id})
	}
	return m.take(group, user, part), nil
}

func (m *memStore) RemoveRows(_ context.Context, group string, epoch uint64, moves []Move) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter("remove rows", epoch); err != nil {
		return err
	}
	for _, mv := range moves {
		if of := m.rows.byUser[mv.User]; of != nil {
			of[group] = slices.DeleteFunc(of[group], func(e Entry) bool { return e.Seq <= mv.UpTo })
		}
	}
	return nil
}

func (m *memStore) Present(context.Context, []string, int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.enter("present", m.epoch)
}

func (m *memStore) Absent(context.Context, []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.enter("absent", m.epoch)
}
