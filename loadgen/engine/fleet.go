package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ackmark/loadgen/client"
	"ackmark/loadgen/client/ackpolicy"
	"ackmark/loadgen/launch"
	"ackmark/profiles"
)

const (
	// atOnce is how many devices connect, or leave, at the same time: enough to
	// be quick, few enough not to be a storm of their own.
	atOnce = 64
	// connectTimeout bounds the first connection of one device.
	connectTimeout = 30 * time.Second
	// closeTimeout bounds the last acks and the goodbye of one device.
	closeTimeout = 10 * time.Second
)

// policyOf is the ack policy of a profile's clients.
func policyOf(a profiles.Ack) (ackpolicy.Policy, error) {
	kind, err := ackpolicy.ParseKind(a.Policy)
	if err != nil {
		return ackpolicy.Policy{}, err
	}
	p := ackpolicy.Policy{Kind: kind, Idle: a.Idle.Std()}
	if kind == ackpolicy.Count || kind == ackpolicy.CountOrInterval {
		p.Every = a.Every
	}
	if kind == ackpolicy.Interval || kind == ackpolicy.CountOrInterval {
		p.Interval = a.Interval.Std()
	}
	return p, p.Check()
}

// newFleet makes the devices of everybody who is online; others are nil.
func (r *run) newFleet() error {
	c := r.profile.Clients
	resume, err := client.ParseResume(c.Resume)
	if err != nil {
		return err
	}
	pullAck, err := client.ParsePullAck(c.Pull.Ack)
	if err != nil {
		return err
	}
	driver := &client.WebSocket{URL: "ws" + strings.TrimPrefix(r.server.URL(), "http") + "/v1/connect", Clock: r.clock.now}
	if n := r.engine.machine.Sources; n > 1 {
		for i := range n {
			driver.Sources = append(driver.Sources, net.ParseIP(launch.SourceAddr(i, n)))
		}
	}
	r.driver = driver
	fleet, err := client.NewFleet(client.Config{
		Driver: driver, Clock: r.clock.now, Observer: r.obs, Ack: r.obs.policy, Resume: resume,
		Window: c.Window, Seed: r.seed,
		Send: client.Sending{Timeout: c.Send.Timeout.Std(), Retries: c.Send.Retries},
		Pull: client.Pulling{Page: c.Pull.Page, Ack: pullAck},
	})
	if err != nil {
		return err
	}
	r.fleet = fleet
	return nil
}

// connect mints a token for each device and connects it.
func (r *run) connect(ctx context.Context) error {
	key := []byte(r.engine.tokenSecret)
	p := r.profile.Phases
	ttl := (p.Warmup + p.Measure + p.Drain).Std() + time.Hour
	now := time.Now()
	var mu sync.Mutex
	var first error
	failed := 0
	r.eachOnline(func(u int) {
		if ctx.Err() != nil {
			return
		}
		err := func() error {
			token, err := mint(key, r.pop.Users[u], now, ttl)
			if err != nil {
				return err
			}
			d := r.fleet.Device(client.Identity{Index: u, User: r.pop.Users[u], Token: token})
			r.devices[u] = d
			r.obs.devices[u].dialed = r.clock.now()
			ctx, cancel := context.WithTimeout(ctx, connectTimeout)
			defer cancel()
			return d.Start(ctx)
		}()
		if err != nil {
			mu.Lock()
			defer mu.Unlock()
			failed++
			if first == nil {
				first = err
			}
		}
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if first != nil {
		return fmt.Errorf("%d of %d devices couldn't connect; the first: %w%s", failed, r.pop.OnlineCount(), first, connectHint(first))
	}
	return nil
}

func connectHint(err error) string {
	var f *client.Fault
	if errors.As(err, &f) && f.Code == "unauthenticated" {
		return " (is --token-secret that of the server?)"
	}
	return ""
}

// leave acks what is left, closes every device in order, and counts those that
// didn't get through.
func (r *run) leave(ctx context.Context) {
	var mu sync.Mutex
	failed := 0
	var first error
	r.eachOnline(func(u int) {
		d := r.devices[u]
		if d == nil {
			return
		}
		ctx, cancel := context.WithTimeout(ctx, closeTimeout)
		defer cancel()
		if err := d.Close(ctx); err != nil {
			mu.Lock()
			defer mu.Unlock()
			failed++
			if first == nil {
				first = err
			}
		}
	})
	if failed > 0 {
		r.warn("%d devices couldn't ack or leave in order; the first: %v", failed, first)
	}
}

// crash ends all devices at once, on the way out of a run that failed.
func (r *run) crash() {
	r.eachOnline(func(u int) {
		if d := r.devices[u]; d != nil {
			d.Crash()
		}
	})
}

// eachOnline calls do for everybody online, atOnce at a time, and waits.
func (r *run) eachOnline(do func(user int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range atOnce {
		wg.Go(func() {
			for {
				u := int(next.Add(1) - 1)
				if u >= len(r.devices) {
					return
				}
				if r.pop.Online[u] {
					do(u)
				}
			}
		})
	}
	wg.Wait()
}

// bytes sums what all connections have carried.
func (r *run) bytes() (read, written uint64) {
	for _, d := range r.devices {
		if d != nil {
			s := d.Stats()
			read += s.BytesRead
			written += s.BytesWritten
		}
	}
	return read, written
}

// httpClient is for the admin API and metrics; one per run, closed with it.
func httpClient() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4, IdleConnTimeout: 30 * time.Second}}
}
