package redisstore

import (
	"context"
	"sync"
	"testing"
	"time"

	"ackmark/refserver/delivery"
	"ackmark/results/pair"
)

// sendsPerTurn is the sends of one turn of the comparison.
const sendsPerTurn = 20_000

// sendLimit is how much CPU of the client the store may cost, against a bare
// coalescing client.
const sendLimit = 1.2

// sendSide keeps benchSends sends under way and notes Redis's CPU beside the
// client's.
type sendSide struct {
	*load
	sink  releaser
	next  int
	put   func(*delivery.Append) error
	redis time.Duration
	sends int
}

func (s *sendSide) run(n int) {
	before := pair.ProcessCPU(s.r.PID())
	for range n {
		s.sink.places <- struct{}{}
		if err := s.put(s.send(s.next)); err != nil {
			s.sink.b.Fatal(err)
		}
		s.next++
	}
	s.sink.drain()
	for range benchSends {
		<-s.sink.places
	}
	s.redis += pair.ProcessCPU(s.r.PID()) - before
	s.sends += n
}

func (s *sendSide) redisPerSend() float64 { return float64(s.redis.Nanoseconds()) / float64(s.sends) }

// bareCoalescing is the least that a coalescing client can do with the same
// script on the same library: a channel, a pipeline, no deadlines, no retries,
// no bookkeeping. It stops with its queue.
func bareCoalescing(l *load, sink releaser) (queue chan *delivery.Append, wait func()) {
	client, set := l.r.Client(), l.f.scripts.Load()
	queue = make(chan *delivery.Append, benchSends)
	var wg sync.WaitGroup
	wg.Go(func() {
		ctx := context.Background()
		for a := range queue {
			batch := []*delivery.Append{a}
			for len(queue) > 0 && len(batch) < defaultMaxBatch {
				batch = append(batch, <-queue)
			}
			pipe := client.Pipeline()
			for _, a := range batch {
				pipe.EvalSha(ctx, set.sha[scriptAppendGroup], l.keysOf(a), a.Sender, a.ClientMsgID, a.Record, 9000000, "0")
			}
			if _, err := pipe.Exec(ctx); err != nil {
				sink.b.Error(err)
			}
			sink.Appended(batch)
		}
	})
	return queue, wg.Wait
}

// BenchmarkSendPath holds Store.Append against a bare coalescing client: CPU
// of this process per send, which is all the client's, and Redis's beside it.
func BenchmarkSendPath(b *testing.B) {
	sink := releaser{b, make(chan struct{}, benchSends)}
	bareLoad := newLoad(b, 1)
	queue, wait := bareCoalescing(bareLoad, sink)
	defer wait()
	defer close(queue)
	floor := &sendSide{load: bareLoad, sink: sink, put: func(a *delivery.Append) error { queue <- a; return nil }}
	ours := &sendSide{load: newLoad(b, 1), sink: sink}
	ours.f.Store.sink = sink
	ours.put = ours.f.Append
	pair.BenchPer(b, "send", sendsPerTurn, pair.Side{Name: "bare", Run: floor.run}, pair.Side{Name: "store", Run: ours.run})
	pair.Limit(b, sendLimit)
	b.ReportMetric(floor.redisPerSend(), "floor-redis-ns/send")
	b.ReportMetric(ours.redisPerSend(), "redis-ns/send")
}
