package redisstore

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"ackmark/refserver/delivery"
)

// Store implements delivery.Store on one Redis.
type Store struct {
	cfg    Config
	opt    *redis.Options
	log    *slog.Logger
	keys   keyspace
	client *redis.Client
	sink   delivery.Sink

	scripts      atomic.Pointer[scriptSet] // nil until Start
	server       atomic.Pointer[Server]
	establishing chan struct{} // a lock that waits no longer than a context

	shards []*shard
	fans   fans
	seed   maphash.Seed
	stop   context.Context // ends when Close gives up on what is queued
	cancel context.CancelFunc
	wg     sync.WaitGroup

	counters counters
	trouble  troubleLog
}

var (
	_ delivery.Store    = (*Store)(nil)
	_ delivery.RowStore = (*Store)(nil)
)

// New checks the configuration; Start connects. The log also receives what
// go-redis has to say, at level debug: it reports every failed dial, and its
// logger is the process's.
func New(cfg Config, log *slog.Logger) (*Store, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("redisstore: %w", err)
	}
	opt, err := cfg.options()
	if err != nil {
		return nil, fmt.Errorf("redisstore: %w", err)
	}
	redis.SetLogger(libraryLog{log})
	s := &Store{
		cfg:          cfg,
		opt:          opt,
		log:          log,
		keys:         newKeyspace(cfg.Namespace),
		establishing: make(chan struct{}, 1),
		seed:         maphash.MakeSeed(),
	}
	for range cfg.Shards {
		s.shards = append(s.shards, newShard(cfg.QueueLen/cfg.Shards+1, cfg.QueueBytes/cfg.Shards+1))
	}
	return s, nil
}

// Start connects, refuses a Redis that can't keep messages, finds the epoch
// and begins to store. Its error is one line that names the Redis without its
// password. The context bounds the start only.
func (s *Store) Start(ctx context.Context, sink delivery.Sink) error {
	if s.client != nil {
		return errors.New("redisstore: started twice")
	}
	s.sink = sink
	s.client = redis.NewClient(s.opt)
	s.stop, s.cancel = context.WithCancel(context.Background())
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	if err := s.establish(ctx, nil); err != nil {
		s.cancel()
		return errors.Join(fmt.Errorf("redis %s: %w", redact(s.cfg.URL), s.explain(err)), s.client.Close())
	}
	for _, sh := range s.shards {
		s.wg.Go(func() { s.gather(sh) })
	}
	return nil
}

// Close refuses new sends, stores what is queued, and disconnects. What isn't
// stored when the context ends is answered unavailable.
func (s *Store) Close(ctx context.Context) error {
	if s.client == nil {
		return nil
	}
	for _, sh := range s.shards {
		sh.close()
	}
	done := make(chan struct{})
	go func() { s.wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		s.cancel()
		_ = s.client.Close() // ends the waiting for an answer; told again below
		<-done
	}
	s.cancel()
	if err := s.client.Close(); err != nil && !errors.Is(err, redis.ErrClosed) {
		return fmt.Errorf("redisstore: close: %w", err)
	}
	return nil
}

// Epoch returns the epoch that the store last saw; 0 before Start.
func (s *Store) Epoch() uint64 {
	if set := s.scripts.Load(); set != nil {
		return set.epoch
	}
	return 0
}

// Server returns what is known of the Redis; zero before Start.
func (s *Store) Server() Server {
	if srv := s.server.Load(); srv != nil {
		return *srv
	}
	return Server{}
}

// Ping asks Redis for a sign of life, for readiness checks.
func (s *Store) Ping(ctx context.Context) error {
	_, err := s.do(ctx, cmdAdmin, 0, func(*scriptSet) []redis.Cmder {
		return []redis.Cmder{redis.NewStatusCmd(ctx, "ping")}
	})
	return err
}

// libraryLog hands go-redis's lines on.
type libraryLog struct{ log *slog.Logger }

func (l libraryLog) Printf(ctx context.Context, format string, v ...any) {
	if l.log.Enabled(ctx, slog.LevelDebug) {
		l.log.DebugContext(ctx, fmt.Sprintf(format, v...))
	}
}
