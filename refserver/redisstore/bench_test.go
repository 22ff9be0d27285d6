package redisstore

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ackmark/refserver/delivery"
	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

// The benchmarks of the send path: 512 sends under way all the time, over 16
// groups, 200-byte bodies. Each reports CPU µs per send of this process and of
// Redis, which say more than the time on a machine that both share.
const (
	benchSends   = 512
	benchGroups  = 16
	benchMembers = 10
)

// load is what every benchmark sends.
type load struct {
	f      *fixture
	r      *redistest.Redis
	groups []string
	users  []string
	body   string
}

func newLoad(b *testing.B, shards int) *load {
	r := redistest.Start(b)
	l := &load{f: startStore(b, Config{URL: r.URL(), DedupFor: time.Hour, Shards: shards}), r: r, users: names(benchMembers)}
	for i := range benchGroups {
		l.groups = append(l.groups, l.f.group(fmt.Sprint(i), l.users...))
	}
	for len(l.body) < 200 {
		l.body += "x"
	}
	return l
}

func (l *load) send(i int) *delivery.Append {
	user, id := l.users[i%benchMembers], fmt.Sprint(i)
	return &delivery.Append{
		Conversation: l.groups[i%benchGroups], Sender: user, ClientMsgID: id,
		Record:   wire.AppendRecord(make([]byte, 0, 256), user, id, l.body, int64(i)),
		Deadline: time.Now().Add(time.Minute),
	}
}

// measured runs the load and reports CPU per send.
func (l *load) measured(b *testing.B, run func()) {
	b.ReportAllocs()
	ownBefore, redisBefore := ownCPU(b), l.redisCPU(b)
	b.ResetTimer()
	run()
	b.StopTimer()
	n := float64(b.N)
	b.ReportMetric(float64((ownCPU(b)-ownBefore).Microseconds())/n, "client-µs/op")
	b.ReportMetric((l.redisCPU(b)-redisBefore)*1e6/n, "redis-µs/op")
}

func ownCPU(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func (l *load) redisCPU(b *testing.B) float64 {
	info, err := l.r.Client().Info(context.Background(), "cpu").Result()
	if err != nil {
		b.Fatal(err)
	}
	var user, sys float64
	if _, err := fmt.Sscan(infoField(info, "used_cpu_user"), &user); err != nil {
		b.Fatal(err)
	}
	if _, err := fmt.Sscan(infoField(info, "used_cpu_sys"), &sys); err != nil {
		b.Fatal(err)
	}
	return user + sys
}

// releaser frees a place for each answered send.
type releaser struct {
	b      *testing.B
	places chan struct{}
}

func (r releaser) Appended(batch []*delivery.Append) {
	for _, a := range batch {
		if a.Err != nil || a.Duplicate {
			r.b.Errorf("%+v", a)
		}
		<-r.places
	}
}

func (releaser) EpochChanged(uint64) {}

func (releaser) Ahead(*delivery.Append) map[string]struct{} { return nil }

func (r releaser) drain() {
	for range benchSends {
		r.places <- struct{}{}
	}
}

// BenchmarkAppend is the store's send path.
func BenchmarkAppend(b *testing.B) {
	for _, shards := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("shards=%d", shards), func(b *testing.B) {
			l := newLoad(b, shards)
			sink := releaser{b, make(chan struct{}, benchSends)}
			l.f.Store.sink = sink
			l.measured(b, func() {
				for i := range b.N {
					sink.places <- struct{}{}
					if err := l.f.Append(l.send(i)); err != nil {
						b.Fatal(err)
					}
				}
				sink.drain()
			})
			b.ReportMetric(float64(b.N)/float64(l.f.Stats().Batches), "sends/trip")
		})
	}
}

func (l *load) keysOf(a *delivery.Append) []string {
	return l.f.keys.appendKeys(nil, wire.KindGroup, a.Conversation, bucket(time.Now(), time.Hour), true, &Config{})
}

// BenchmarkAutoPipeline is go-redis's own coalescing with the same script, one
// goroutine per send under way.
func BenchmarkAutoPipeline(b *testing.B) {
	l := newLoad(b, 1)
	set := l.f.scripts.Load()
	auto, err := l.r.Client().AutoPipelineWithOptions(&redis.AutoPipelineOptions{MaxBatchSize: defaultMaxBatch})
	if err != nil {
		b.Fatal(err)
	}
	defer auto.Close()
	l.measured(b, func() {
		var wg sync.WaitGroup
		for g := range benchSends {
			wg.Go(func() {
				for i := g; i < b.N; i += benchSends {
					a := l.send(i)
					if err := auto.EvalSha(context.Background(), set.sha[scriptAppendGroup], l.keysOf(a), a.Sender, a.ClientMsgID, a.Record, 9000000, "0").Err(); err != nil {
						b.Error(err)
					}
				}
			})
		}
		wg.Wait()
	})
}
