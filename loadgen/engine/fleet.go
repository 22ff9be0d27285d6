package engine

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"ackmark/loadgen/client"
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

// connect mints a token for each device and connects it.
func (r *run) connect(ctx context.Context) error {
	counts := r.backlogLogins()
	var mu sync.Mutex
	var first error
	failed := 0
	r.eachUser(func(u int) {
		if ctx.Err() != nil || !r.pop.Online[u] {
			return
		}
		err := func() error {
			token, err := r.token(u)
			if err != nil {
				return err
			}
			d := r.fleet.Device(client.Identity{Index: u, User: r.pop.Users[u], Token: token})
			r.obs.dials(u, r.clock.now(), counts)
			r.seats[u].device.Store(d)
			ctx, cancel := context.WithTimeout(ctx, connectTimeout)
			defer cancel()
			if err := d.Start(ctx); err != nil && r.device(u) == d { // else it crashed once it was welcomed
				return err
			}
			return nil
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

// token mints a user's token, for all of the run.
func (r *run) token(user int) (string, error) {
	p := r.profile.Phases
	ttl := (p.Warmup + p.Measure + p.Drain).Std() + setupBudget + time.Hour
	return mint([]byte(r.engine.tokenSecret), r.pop.Users[user], time.Now(), ttl)
}

func connectHint(err error) string {
	var f *client.Fault
	if errors.As(err, &f) && f.Code == "unauthenticated" {
		return " (is --token-secret that of the server?)"
	}
	return ""
}

// leave ends all lives, acks what is left, closes every device in order, and counts those that
// didn't get through.
func (r *run) leave(ctx context.Context) {
	r.lives.close()
	var mu sync.Mutex
	failed := 0
	var first error
	r.eachUser(func(u int) {
		d := r.device(u)
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
		r.leftBadly = true
		r.warn("%d devices couldn't ack or leave in order; the first: %v", failed, first)
	}
}

// crash ends all devices at once, on the way out of a run that failed.
func (r *run) crash() {
	if r.lives != nil {
		r.lives.close()
	}
	r.eachUser(func(u int) {
		if d := r.device(u); d != nil {
			d.Crash()
		}
	})
}

// eachUser calls do for everybody, atOnce at a time, and waits.
func (r *run) eachUser(do func(user int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range atOnce {
		wg.Go(func() {
			for {
				u := int(next.Add(1) - 1)
				if u >= len(r.seats) {
					return
				}
				do(u)
			}
		})
	}
	wg.Wait()
}

// httpClient is for the admin API and metrics; one per run, closed with it.
func httpClient() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4, IdleConnTimeout: 30 * time.Second}}
}
