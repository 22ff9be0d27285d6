package delivery

import "context"

// newCopies is the ladder's g1: a message is stored once per recipient, body
// and all, for who is offline or for everybody, and goes as it is pulled. One
// command reads a page and removes it; nothing is shared, so nothing has to be
// counted.
func newCopies(s *Service) groupDesign {
	return &rowsDesign{s: s, part: func(ctx context.Context, c *conversation, user string, r RowRead) ([]Entry, uint64, error) {
		copies, more, err := s.store.ReadCopies(ctx, c.name, user, r)
		switch {
		case err != nil || !more:
			return copies, 0, err
		case r.Newest:
			return copies, copies[0].Seq, nil
		default:
			return copies, copies[len(copies)-1].Seq, nil
		}
	}}
}
