package server

import (
	"fmt"
	"os"
	"testing"

	"ackmark/refserver/redisstore/redistest"
	"ackmark/results/pair"
)

// stormLoads are the loads of the comparison: at equal rates, since CPU per
// delivery falls as the load grows, and at full speed.
var stormLoads = []struct {
	name                     string
	rate, inFlight, messages int // messages of a turn
}{{"20ps", 20, 0, 16}, {"100ps", 100, 0, 80}, {"full", 0, 8, 160}}

// stormAcks are the ack policies: each delivery, or every ten.
var stormAcks = []struct {
	name  string
	every int
}{{"each", 1}, {"every10", 10}}

// Limits of the ratios, from the project's issue on speed.
const (
	stormLimit = 1.25
	floorLimit = 1.2
)

type stormSide struct {
	*child
	*crowd
}

func newStormSide(b *testing.B, role string, r *redistest.Redis) stormSide {
	c := startChild(b, role, r.URL(), 1)
	s := stormSide{c, gather(b, c, 0)}
	s.run(200, 0, 8)
	return s
}

func (s stormSide) side(name string, rate, inFlight int) pair.Side {
	return pair.Side{
		Name:    name,
		Run:     func(deliveries int) { s.run(max(deliveries/(stormSize-1), 1), rate, inFlight) },
		Reset:   s.flush,
		CPU:     s.cpu,
		Mallocs: s.mallocs,
	}
}

// BenchmarkStorm holds the server against the bare gateway: one group of 500,
// everybody online, bodies of 200 bytes. What is measured is the CPU of the
// server's process per acked delivery.
func BenchmarkStorm(b *testing.B) {
	r := redistest.Start(b)
	floor, ours := newStormSide(b, "bare", r), newStormSide(b, "server", r)
	for _, ack := range stormAcks {
		for _, load := range stormLoads {
			b.Run(fmt.Sprintf("ack=%s/rate=%s", ack.name, load.name), func(b *testing.B) {
				floor.ack, ours.ack = ack.every, ack.every
				if dir := os.Getenv("ACKMARK_PERF_PROFILES"); dir != "" {
					path := fmt.Sprintf("%s/%s-%s-", dir, ack.name, load.name)
					floor.ask("profile " + path + "bare.pprof")
					ours.ask("profile " + path + "server.pprof")
					defer floor.ask("profile")
					defer ours.ask("profile")
				}
				pair.Bench(b, load.messages*(stormSize-1), floor.side("bare", load.rate, load.inFlight), ours.side("server", load.rate, load.inFlight))
				pair.Limit(b, stormLimit)
			})
		}
	}
}

// BenchmarkStormFloor shows that the bare gateway is honest: the same bytes
// through epoll, read(2) and write(2) of one thread cost not much less. One
// message after the other: else it is how many happen to be joined that decides.
func BenchmarkStormFloor(b *testing.B) {
	r := redistest.Start(b)
	floor, bare := newStormSide(b, "raw", r), newStormSide(b, "bare", r)
	const messages = 80
	for _, ack := range stormAcks {
		b.Run("ack="+ack.name, func(b *testing.B) {
			floor.ack, bare.ack = ack.every, ack.every
			pair.Require(b, pair.Bench(b, messages*(stormSize-1), floor.side("raw", 0, 1), bare.side("bare", 0, 1)), floorLimit)
		})
	}
}
