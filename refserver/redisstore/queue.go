package redisstore

import (
	"sync"

	"ackmark/refserver/delivery"
	"ackmark/refserver/wire"
)

// shard is a bounded queue of sends and the gatherer that empties it. A
// conversation always belongs to the same shard, so its order holds.
type shard struct {
	maxLen, maxBytes int
	wake             chan struct{} // holds one token while there may be work

	mu     sync.Mutex
	queue  []*delivery.Append // guarded by mu, oldest first
	bytes  int                // guarded by mu: of the records in queue
	closed bool               // guarded by mu
}

func newShard(maxLen, maxBytes int) *shard {
	return &shard{maxLen: maxLen, maxBytes: maxBytes, wake: make(chan struct{}, 1)}
}

// put queues a send, or refuses it.
func (q *shard) put(a *delivery.Append) *wire.Fault {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return wire.Faultf(wire.CodeShuttingDown, "the server is shutting down; connect again and resend")
	}
	if len(q.queue) >= q.maxLen || q.bytes+len(a.Record) > q.maxBytes {
		waiting := len(q.queue)
		q.mu.Unlock()
		return wire.Faultf(wire.CodeOverloaded, "%d sends wait to be stored; send again later", waiting)
	}
	q.queue = append(q.queue, a)
	q.bytes += len(a.Record)
	first := len(q.queue) == 1
	q.mu.Unlock()
	if first {
		q.signal()
	}
	return nil
}

func (q *shard) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *shard) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.signal()
}

// takeLate takes the sends out that late says it is too late for. While a batch
// is tried again and again, those that wait behind it have deadlines too.
func (q *shard) takeLate(late func(*delivery.Append) bool) (over []*delivery.Append) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var rest []*delivery.Append // an array of its own: the old one may be a batch's
	for _, a := range q.queue {
		if late(a) {
			over = append(over, a)
			q.bytes -= len(a.Record)
		} else {
			rest = append(rest, a)
		}
	}
	if len(over) > 0 {
		q.queue = rest
	}
	return over
}

// take waits for sends and returns all that wait, at most maxBatch and about
// maxBatchBytes; nil when the queue is closed and empty.
func (q *shard) take(maxBatch int) []*delivery.Append {
	for {
		q.mu.Lock()
		n, size := 0, 0
		for n < len(q.queue) && n < maxBatch && size < maxBatchBytes {
			size += len(q.queue[n].Record)
			n++
		}
		if n > 0 {
			batch := q.queue[:n:n]
			q.queue = q.queue[n:]
			if len(q.queue) == 0 {
				q.queue = nil // the batch keeps the array
			}
			q.bytes -= size
			more := len(q.queue) > 0
			q.mu.Unlock()
			if more {
				q.signal()
			}
			return batch
		}
		closed := q.closed
		q.mu.Unlock()
		if closed {
			return nil
		}
		<-q.wake
	}
}
