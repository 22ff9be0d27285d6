package redisstore

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"ackmark/refserver/delivery"
)

// Config is what a store needs to know. Zero values take the defaults named
// here, except where zero means something.
type Config struct {
	// URL names the Redis: redis://[USER:PASSWORD@]HOST[:6379][/DB], rediss://…
	// for TLS, unix://[USER:PASSWORD@]PATH[?db=DB].
	URL string

	// Namespace stands before every key, so that several services, or runs,
	// share one Redis and each can be removed alone. 1–64 of A–Z a–z 0–9 _ . - :
	// Default "am".
	Namespace string

	// Group, Cursor and StoreFor choose what is kept of a group's messages, for
	// the whole life of a namespace. Defaults: cursor, seq, all.
	Group    delivery.Group
	Cursor   delivery.Cursor
	StoreFor delivery.StoreFor

	// DedupFor is how long a resend finds the first send's answer: at least
	// this long, at most twice. 0 = without limit: one entry per message stays
	// in Redis for ever. At least one second otherwise. It names the buckets, so it
	// belongs to a namespace for its whole life; Start refuses another one.
	DedupFor time.Duration

	// DedupOff stores every attempt of a send as a message of its own, the
	// store's own second attempts included.
	DedupOff bool

	// SenderIndex keeps an index (receiver, sender) of inboxes, which pulls and
	// counts per sender need. It belongs to a namespace from its beginning:
	// messages that were stored without it are not in it. Start refuses a change.
	SenderIndex bool

	// FriendsOnly lets only friends send direct messages.
	FriendsOnly bool

	// QueueLen is how many sends may wait for a round trip before Append
	// answers overloaded, QueueBytes how large their records may be together.
	// Defaults 8192 and 64 MiB.
	QueueLen   int
	QueueBytes int

	// MaxBatch is the most sends in one round trip. Default 512.
	MaxBatch int

	// Shards is how many round trips of sends may be under way at once; a
	// conversation always belongs to the same one. Default 1 (doc.go has the
	// measurement).
	Shards int

	// PoolSize is the most connections to Redis. Default 16.
	PoolSize int

	// CallTimeout bounds calls whose context has no earlier deadline, and how
	// long an answer of Redis is waited for. Default 5 s.
	CallTimeout time.Duration

	// Now is the clock of the dedup buckets and of deadlines. Servers on one
	// Redis need clocks that agree within a fraction of DedupFor. Default time.Now.
	Now func() time.Time
}

const (
	defaultNamespace  = "am"
	maxNamespace      = 64
	minDedup          = time.Second
	defaultQueueLen   = 8192
	defaultQueueBytes = 64 << 20
	defaultMaxBatch   = 512
	defaultShards     = 1
	defaultPool       = 16
	defaultTimeout    = 5 * time.Second
	dialTimeout       = 3 * time.Second
	maxBatchBytes     = 1 << 20 // of records in one round trip, so that it stays short
)

// withDefaults returns c with defaults filled in, or what is wrong with it.
func (c Config) withDefaults() (Config, error) {
	if c.Namespace == "" {
		c.Namespace = defaultNamespace
	}
	if err := checkNamespace(c.Namespace); err != nil {
		return c, err
	}
	if err := c.checkDesign(); err != nil {
		return c, err
	}
	if c.DedupFor < 0 || c.DedupFor > 0 && c.DedupFor < minDedup {
		return c, fmt.Errorf("dedup time %v: want at least %v, or 0 for no limit", c.DedupFor, minDedup)
	}
	for _, n := range []struct {
		name string
		v    *int
		def  int
	}{
		{"queue length", &c.QueueLen, defaultQueueLen},
		{"queue bytes", &c.QueueBytes, defaultQueueBytes},
		{"batch size", &c.MaxBatch, defaultMaxBatch},
		{"shards", &c.Shards, defaultShards},
		{"pool size", &c.PoolSize, defaultPool},
	} {
		if *n.v < 0 {
			return c, fmt.Errorf("%s %d: want a positive number, or 0 for the default %d", n.name, *n.v, n.def)
		}
		if *n.v == 0 {
			*n.v = n.def
		}
	}
	if c.PoolSize <= c.Shards {
		return c, fmt.Errorf("pool size %d: want more than the %d shards, each holds a connection", c.PoolSize, c.Shards)
	}
	if c.CallTimeout < 0 {
		return c, fmt.Errorf("call timeout %v: want a positive duration, or 0 for the default %v", c.CallTimeout, defaultTimeout)
	}
	if c.CallTimeout == 0 {
		c.CallTimeout = defaultTimeout
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c, nil
}

func checkNamespace(ns string) error {
	ok := len(ns) <= maxNamespace && !strings.ContainsFunc(ns, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_.-:", r))
	})
	if !ok {
		return fmt.Errorf("namespace %q: want 1 to %d of A-Z a-z 0-9 _ . - :", ns, maxNamespace)
	}
	return nil
}

// options reads the URL. Nothing is retried by the library: a pipeline whose
// connection dropped may have run, and only the scripts know.
func (c Config) options() (*redis.Options, error) {
	opt, err := redis.ParseURL(c.URL)
	if err != nil {
		return nil, fmt.Errorf("redis URL %q: want redis://HOST:PORT, rediss://HOST:PORT or unix:///PATH", redact(c.URL))
	}
	opt.Protocol = 2 // no server push is used, and miniredis and proxies know it
	opt.MaxRetries = -1
	opt.DialerRetries = 1
	opt.DialTimeout = dialTimeout
	opt.ReadTimeout = c.CallTimeout
	opt.WriteTimeout = c.CallTimeout
	opt.ContextTimeoutEnabled = true
	opt.PoolSize = c.PoolSize
	opt.DisableIdentity = true
	opt.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return opt, nil
}

// redact returns the URL without its password.
func redact(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "(unreadable)"
	}
	return u.Redacted()
}
