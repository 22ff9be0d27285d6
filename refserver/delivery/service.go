package delivery

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/gobwas/ws"

	"ackmark/refserver/push"
)

// Service is the delivery design on top of a store and a hub.
type Service struct {
	cfg      Config
	store    Store
	hub      *push.Hub
	log      *slog.Logger
	design   groupDesign
	presence *presence
	acks     *acker
	cache    *chunkCache
	stats    counters
	epoch    atomic.Uint64

	missed missedSends

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
	s.design = newGroupDesign(s)
	s.presence = newPresence(s)
	return s
}

// Start runs what works in the background until Close.
func (s *Service) Start(ctx context.Context) error {
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.wg.Go(func() { s.acks.run(ctx) })
	s.wg.Go(func() { s.trimLoop(ctx) })
	if s.presence.needed() {
		s.wg.Go(func() { s.presence.run(ctx) })
	}
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
