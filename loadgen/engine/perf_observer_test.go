package engine

import (
	"sync/atomic"
	"testing"
	"time"

	"ackmark/loadgen/client/ackpolicy"
	"ackmark/loadgen/ledger"
	"ackmark/loadgen/measure"
)

// perfObserver is the engine's observer of one group of the crowd in the
// measure phase, its messages sent by somebody else.
func perfObserver(b testing.TB, policy ackpolicy.Policy) *observer {
	b.Helper()
	conv := ledger.Conversation{Name: perfGroup, Senders: make([]int, lastOrdinal+1)}
	for i := range crowd {
		conv.Recipients = append(conv.Recipients, i)
	}
	for k := range conv.Senders {
		conv.Senders[k] = crowd
	}
	books, err := ledger.New(ledger.Config{Conversations: []ledger.Conversation{conv}})
	if err != nil {
		b.Fatal(err)
	}
	rec, err := measure.NewRecorder(measure.Config{
		Shards: 4, MeasureEnd: time.Hour, SeriesOf: []measure.Name{measure.Live, measure.SendResponse},
	})
	if err != nil {
		b.Fatal(err)
	}
	setup, err := measure.NewRecorder(measure.Config{Shards: 2, MeasureEnd: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	o := &observer{
		msgs: &messages{
			tag: perfTag, intended: [][]time.Duration{make([]time.Duration, lastOrdinal+1)},
			sent: [][]atomic.Int64{make([]atomic.Int64, lastOrdinal+1)},
		},
		ledger: books, policy: policy, setup: setup, devices: make([]deviceState, crowd),
		online: func(int, int) int64 { return crowd },
	}
	o.window.Store(&window{to: time.Hour, recorder: rec})
	return o
}
