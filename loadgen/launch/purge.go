package launch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// purgeTimeout bounds a purge at the end of a run.
const purgeTimeout = 30 * time.Second

// Purge removes every key that begins with namespace from the Redis at url, and
// returns how many. It scans, so a shared Redis goes on serving, and it unlinks,
// so memory is freed in the background. An empty namespace is refused: that
// would be everybody's keys.
func Purge(ctx context.Context, url, namespace string) (removed int64, err error) {
	if namespace == "" {
		return 0, errors.New("purging Redis: the namespace is empty, which would remove every key; name the run's")
	}
	c, err := Connect(url)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	fail := func(err error) (int64, error) {
		return removed, fmt.Errorf("removing the keys %s* from the Redis at %s: %w", namespace, Redacted(url), err)
	}
	var cursor uint64
	for {
		keys, next, err := c.Scan(ctx, cursor, globEscape(namespace)+"*", 1000).Result()
		if err != nil {
			return fail(err)
		}
		if len(keys) > 0 {
			n, err := c.Unlink(ctx, keys...).Result()
			if err != nil {
				return fail(err)
			}
			removed += n
		}
		if next == 0 {
			return removed, nil
		}
		cursor = next
	}
}

// globEscape makes a namespace mean itself in MATCH.
func globEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(s)
}
