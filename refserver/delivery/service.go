package delivery

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gobwas/ws"

	"ackmark/refserver/push"
)

// Config sets how messages are kept and acked. Zero values are replaced by
// the defaults.
type Config struct {
	AckJoin      time.Duration // how long acks of a moment gather before cursors move, default 5 ms
	AckFlush     time.Duration // write-behind of acks: cursors move at most that often; 0: as AckJoin says, and an ack that asks for an answer gets it once stored
	Page         int           // messages in a page when the client names no limit, default 100
	MaxPage      int           // most messages in a page, default 1000
	MaxBody      int           // most bytes in a body, default 64 KiB
	MaxInFlight  int           // most sends of one connection that wait for the store, default 256
	Retention    int           // most messages in a group's log, 0: no limit
	TrimEvery    time.Duration // how often logs are trimmed, default 1 s
	SendTimeout  time.Duration // how long the store may take for a send, default 5 s
	CacheBytes   int           // most bytes of old log parts kept in memory, default 64 MiB
	TailMessages int           // newest messages of a group kept in memory, default 512
	IdleAfter    time.Duration // a conversation nobody uses is forgotten after it, default 1 min
}

func (c Config) withDefaults() Config {
	set := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	num := func(n *int, v int) {
		if *n <= 0 {
			*n = v
		}
	}
	set(&c.AckJoin, 5*time.Millisecond)
	num(&c.Page, 100)
	num(&c.MaxPage, 1000)
	num(&c.MaxBody, 64<<10)
	num(&c.MaxInFlight, 256)
	set(&c.TrimEvery, time.Second)
	set(&c.SendTimeout, 5*time.Second)
	num(&c.CacheBytes, 64<<20)
	num(&c.TailMessages, 512)
	set(&c.IdleAfter, time.Minute)
	return c
}

// Service is the delivery design on top of a store and a hub.
type Service struct {
	cfg   Config
	store Store
	hub   *push.Hub
	log   *slog.Logger
	acks  *acker
	cache *chunkCache
	stats counters
	epoch atomic.Uint64

	mu            sync.Mutex
	conversations map[string]*conversation

	cancel context.CancelFunc
	wg     sync.WaitGroup
}

var (
	_ Sink           = (*Service)(nil)
	_ push.LogReader = (*Service)(nil)
)

// New makes a Service. The store reports to it as its Sink.
func New(cfg Config, store Store, hub *push.Hub, log *slog.Logger) *Service {
	s := &Service{
		cfg:           cfg.withDefaults(),
		store:         store,
		hub:           hub,
		log:           log,
		conversations: make(map[string]*conversation),
	}
	s.acks = newAcker(s)
	s.cache = newChunkCache(s.cfg.CacheBytes)
	return s
}

// Start runs what works in the background until Close.
func (s *Service) Start(ctx context.Context) error {
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.wg.Go(func() { s.acks.run(ctx) })
	s.wg.Go(func() { s.trimLoop(ctx) })
	return nil
}

// Close moves every cursor whose ack has arrived, within ctx, and stops. The
// connections should be closed before.
func (s *Service) Close(ctx context.Context) error {
	err := s.acks.drain(ctx)
	if s.cancel != nil {
		s.cancel()
	}
	s.wg.Wait()
	return err
}

// EpochChanged forgets everything about the old epoch. Clients are
// disconnected and resume in the new one.
func (s *Service) EpochChanged(epoch uint64) {
	if s.epoch.Swap(epoch) == epoch {
		return
	}
	s.mu.Lock()
	clear(s.conversations)
	s.mu.Unlock()
	s.cache.reset()
	s.acks.reset()
	s.log.Info("epoch changed: clients are disconnected and resume from what the store still has", "epoch", epoch)
	s.hub.CloseAll(ws.StatusCode(1012), "the store restarted: a new epoch has begun, connect again")
}
