package delivery

import (
	"context"
	"slices"
	"strings"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

// syncFrom is where one group goes on in a sync.
type syncFrom struct {
	conv         *conversation
	member       *push.Member // nil for who isn't online here
	cursor       uint64       // the server's
	epoch, after uint64
	named        bool // by the client, with where it stands
}

// Sync pulls from all groups of a user over HTTP.
func (s *Service) Sync(ctx context.Context, user string, r *wire.SyncRequest) (*wire.Sync, error) {
	places, err := s.places(ctx, user, nil)
	if err != nil {
		return nil, err
	}
	from := make([]syncFrom, 0, len(places))
	for _, p := range places[:len(places)-1] { // all but the inbox
		from = append(from, syncFrom{conv: p.c, member: s.member(user, p.c.name), cursor: p.cursor})
	}
	slices.SortFunc(from, func(a, b syncFrom) int { return strings.Compare(a.conv.name, b.conv.name) })
	if err := goOn(from, r); err != nil {
		return nil, err
	}
	if err := s.syncAcks(user, from, r)(ctx); err != nil {
		return nil, err
	}
	sync, pages, err := s.sync(ctx, user, from, r)
	if err != nil {
		return nil, err
	}
	return push.DecodedSync(sync, records(pages))
}

// sync answers over WebSocket. A group that its client has closed is left out.
func (ss *Session) sync(ctx context.Context, r *wire.SyncRequest) error {
	ss.mu.RLock()
	members := slices.Clone(ss.members) // in the order of their names
	ss.mu.RUnlock()
	from := make([]syncFrom, 0, len(members))
	for _, ms := range members {
		cursor, _, state := ms.member.Status()
		if ms.conv.kind == wire.KindGroup && state != push.CountOnly {
			from = append(from, syncFrom{conv: ms.conv, member: ms.member, cursor: cursor})
		}
	}
	if err := goOn(from, r); err != nil {
		return err
	}
	// A client that asks for page after page without reading waits here.
	if err := ss.conn.WaitRoom(ctx); err != nil {
		return err
	}
	ss.s.syncAcks(ss.user, from, r)
	sync, pages, err := ss.s.sync(ctx, ss.user, from, r)
	if err != nil {
		return err
	}
	b, err := ss.conn.EncodeSync(sync, records(pages))
	if err != nil {
		return err
	}
	// What follows fails only on a connection that is ending.
	if ss.conn.SendControl(b) == nil {
		for _, p := range pages {
			_ = p.from.member.Page(nil, push.Paged{UpTo: p.frame.UpTo, More: p.frame.More, Gone: p.gone})
			if ss.s.cfg.Remove == RemoveOnPull { // nothing is left to ack
				_, _ = p.from.member.Ack(p.frame.UpTo)
			}
		}
	}
	return nil
}

// goOn fills in where each group goes on: after what the client names, else
// after the server's cursor. from is in the order of names.
func goOn(from []syncFrom, r *wire.SyncRequest) error {
	if len(r.After) > maxResumes {
		return wire.Faultf(wire.CodeTooLarge, "a sync names %d groups, at most %d are taken", len(r.After), maxResumes)
	}
	for i := range from {
		from[i].epoch, from[i].after = from[i].conv.epoch, from[i].cursor
	}
	for _, a := range r.After {
		kind, _, err := wire.ParseConversation(a.Conversation)
		if err != nil {
			return err
		}
		if kind != wire.KindGroup {
			return wire.Faultf(wire.CodeBadRequest, "%s: a sync is about groups; an inbox is pulled with a page request", a.Conversation)
		}
		i, ok := slices.BinarySearchFunc(from, a.Conversation, func(f syncFrom, name string) int {
			return strings.Compare(f.conv.name, name)
		})
		if !ok {
			return &wire.Fault{Code: wire.CodeNotMember, Conversation: a.Conversation,
				Message: "not a group of this user, or one that it has closed; a sync names open groups"}
		}
		f := &from[i]
		f.named, f.after = true, a.Cursor
		if a.Epoch != 0 {
			f.epoch = a.Epoch
		}
	}
	return nil
}

// syncAcks takes what is named as acks where the request says so; together
// they are one ack request. What it returns waits until they are stored, with
// AckFlush set it doesn't.
func (s *Service) syncAcks(user string, from []syncFrom, r *wire.SyncRequest) (stored func(context.Context) error) {
	written, n := make(chan error, len(from)), 0
	if r.Ack && len(r.After) > 0 {
		s.stats.ackRequests.Add(1)
		for i := range from {
			f := &from[i]
			switch {
			case !f.named || f.after == 0:
			case s.syncAck(user, f, func(err error) { written <- err }):
				n++
			default:
				s.stats.acksIgnored.Add(1)
			}
		}
	}
	return func(ctx context.Context) error {
		if s.cfg.AckFlush > 0 {
			return nil
		}
		for range n {
			select {
			case err := <-written:
				if err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}
}

// syncAck moves the cursor of one group; false when it doesn't move.
func (s *Service) syncAck(user string, f *syncFrom, written func(error)) bool {
	if f.epoch != f.conv.epoch {
		return false
	}
	upTo := f.conv.overOwn(user, min(f.after, f.conv.room.Head()))
	moved := upTo > f.cursor
	if f.member != nil {
		if cursor, ok := f.conv.ack(f.member, upTo); ok {
			upTo, moved = cursor, true
		}
	}
	if moved {
		f.cursor = max(f.cursor, upTo)
		s.acks.add(f.conv, user, upTo, written)
	}
	return moved
}

// syncPage is a page of a sync.
type syncPage struct {
	*page
	from *syncFrom
}

func records(pages []syncPage) []wire.PageRecords {
	out := make([]wire.PageRecords, len(pages))
	for i, p := range pages {
		out[i] = wire.PageRecords{Page: &p.frame, Seqs: p.seqs, Records: p.records}
	}
	return out
}

// sync reads pages of one group after the other until the limit of messages is
// reached, or about as many bytes as a page may have. Where a group can't be
// read after others could, these are answered: they may be removed already.
func (s *Service) sync(ctx context.Context, user string, from []syncFrom, r *wire.SyncRequest) (*wire.Sync, []syncPage, error) {
	s.stats.syncs.Add(1)
	sync := &wire.Sync{Ref: r.Ref, Epoch: s.epoch.Load()}
	var pages []syncPage
	left, bytes := s.limit(&wire.PageRequest{Limit: r.Limit}), 0
	for i := range from {
		f := &from[i]
		if f.conv.worth(f.epoch, f.after, f.cursor) >= f.conv.room.Head() {
			continue
		}
		if left <= 0 || bytes >= pageBytes {
			sync.More = true
			break
		}
		p, err := s.page(ctx, f.conv, user, f.cursor, &wire.PageRequest{
			Conversation: f.conv.name, Epoch: f.epoch, After: f.after, Limit: uint32(left),
		})
		if err != nil {
			if len(pages) == 0 {
				return nil, nil, err
			}
			sync.More = true
			break
		}
		left -= len(p.seqs)
		for _, record := range p.records {
			bytes += len(record)
		}
		sync.More = sync.More || p.frame.More
		pages = append(pages, syncPage{p, f})
	}
	return sync, pages, nil
}
