package delivery

import (
	"context"
	"time"

	"ackmark/refserver/wire"
)

// trimLoop removes what every member has acked, in groups where something has
// moved, and forgets conversations that nobody uses.
func (s *Service) trimLoop(ctx context.Context) {
	tick := time.NewTicker(s.cfg.TrimEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			s.trimDirty(ctx)
			s.forgetIdle(now)
		}
	}
}

func (s *Service) trimDirty(ctx context.Context) {
	s.mu.Lock()
	all := make([]*conversation, 0, len(s.conversations))
	for _, c := range s.conversations {
		all = append(all, c)
	}
	s.mu.Unlock()
	for _, c := range all {
		if c.kind != wire.KindGroup {
			continue
		}
		err := s.design.tidy(ctx, c)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.log.Warn("a log could not be trimmed, it is tried again", "conversation", c.name, "error", err)
			return
		}
	}
}
