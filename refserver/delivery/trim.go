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
		c.mu.Lock()
		dirty := c.trimDirty
		c.trimDirty = false
		c.mu.Unlock()
		if !dirty || c.kind != wire.KindGroup {
			continue
		}
		done, err := s.store.Trim(ctx, c.name, c.epoch, s.cfg.Retention)
		if ctx.Err() != nil {
			return
		}
		c.mu.Lock()
		if err != nil {
			c.trimDirty = true
		} else {
			c.first = max(c.first, done.First)
		}
		c.mu.Unlock()
		if err != nil {
			s.log.Warn("a log could not be trimmed, it is tried again", "conversation", c.name, "error", err)
			return
		}
		s.stats.trimmed.Add(done.Removed)
		if done.Truncated > 0 {
			s.stats.truncated.Add(done.Truncated)
			s.log.Warn("the retention limit removed messages that members have not acked",
				"conversation", c.name, "messages", done.Truncated, "retention", s.cfg.Retention)
		}
	}
}
