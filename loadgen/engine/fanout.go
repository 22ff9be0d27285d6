package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"ackmark/loadgen/population"
)

// fanoutPatience is how long a kill waits for a fan-out to be half-way.
const fanoutPatience = 500 * time.Millisecond

// awaitFanout returns as soon as a fan-out is under way in some group, or with
// an error when none was seen. A fan-out to a hundred members takes some
// milliseconds, so it asks without a pause.
func (s *store) awaitFanout(ctx context.Context, pop *population.Population) error {
	ctx, cancel := context.WithTimeout(ctx, fanoutPatience)
	defer cancel()
	for {
		n, err := s.unfinished(ctx, pop)
		if err != nil || n > 0 {
			return err
		}
	}
}

// unfinished counts the messages whose fan-out has begun and not ended.
func (s *store) unfinished(ctx context.Context, pop *population.Population) (int64, error) {
	p := s.client.Pipeline()
	asked := make([]*redis.IntCmd, len(pop.Groups))
	for g := range pop.Groups {
		asked[g] = p.HLen(ctx, s.key(pop.Conversation(g), "storing"))
	}
	if _, err := p.Exec(ctx); err != nil {
		return 0, fmt.Errorf("looking for fan-outs: %w", err)
	}
	var n int64
	for _, a := range asked {
		n += a.Val()
	}
	return n, nil
}
