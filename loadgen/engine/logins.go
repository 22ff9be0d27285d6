package engine

import (
	"sync"
	"time"

	"ackmark/loadgen/client"
	"ackmark/loadgen/measure"
)

// logins sums up what logging in took, over all logins of a run that count: who
// was offline and logs in, who comes back, and who logs in again after a crash.
// Where nobody does, those who are connected from the start and find a backlog.
// A connection that the network broke and the device made again is no login.
type logins struct {
	mu sync.Mutex // guards what follows; logins and crashes are seldom

	began    int64
	synced   int64 // of these: everything that waited was pulled and acked
	requests int64 // of those, as the other sums are
	pages    int64
	largest  int64 // bytes of the largest response to any of their requests

	abandoned int64 // logins whose user left before the sync was complete
	crashes   int64
}

// dials notes that a device is about to connect, at the time that it was to. It
// is called before the device starts.
func (o *observer) dials(dev int, intended time.Duration, login bool) {
	st := &o.devices[dev]
	st.dialed, st.welcomed, st.used = intended, false, true
	if !login {
		return
	}
	o.logins.mu.Lock()
	o.logins.began++
	o.logins.mu.Unlock()
	o.syncs(st)
}

// syncs notes that a device has to sync before the run is at rest.
func (o *observer) syncs(st *deviceState) {
	if !st.syncing {
		st.syncing = true
		o.tallies.syncing.Add(1)
	}
}

// synced notes that a device has synced, or that it isn't waited for any more.
func (o *observer) synced(st *deviceState) {
	if st.syncing {
		st.syncing = false
		o.tallies.syncing.Add(-1)
	}
}

// left notes that a device has ended for good.
func (o *observer) left(dev int, now time.Duration) {
	st := &o.devices[dev]
	st.ended(client.NoCrash)
	o.gone(st, now)
	if st.syncing {
		o.logins.mu.Lock()
		o.logins.abandoned++
		o.logins.mu.Unlock()
	}
	o.synced(st)
}

// gone notes that a device has no connection any more and won't make another.
func (o *observer) gone(st *deviceState, now time.Duration) {
	if st.up {
		st.up = false
		o.tallies.connections.Add(-1)
	}
	st.unacked.set(0, now, o.window.Load())
}

// OnSync records a whole login. One that asked for nothing is no sync.
func (o *observer) OnSync(dev int, s client.Sync) {
	st := &o.devices[dev]
	began := s.Began
	if st.syncing {
		began = st.dialed // the user wanted it then
		o.synced(st)
		o.logins.add(&s)
	}
	if s.Pages > 0 {
		o.setup.Shard(dev).Record(measure.Sync, began, max(s.At-began, 0))
	}
}

func (l *logins) add(s *client.Sync) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.synced++
	l.requests += int64(s.Requests)
	l.pages += int64(s.Pages)
	l.largest = max(l.largest, int64(s.LargestResponse))
}

// OnCrash takes a crash and what went down with it into the books.
func (o *observer) OnCrash(dev int, c client.CrashedAt) {
	st := &o.devices[dev]
	st.ended(c.Point)
	o.gone(st, c.At)
	o.syncs(st)
	o.dropped(dev, &c)
	o.logins.mu.Lock()
	o.logins.crashes++
	o.logins.mu.Unlock()
	o.crashed(dev)
}

// powerCut takes into the books that a device has crashed without a chance to
// tell: what it had not acked, nobody will.
func (o *observer) powerCut(dev int, at time.Duration) {
	st := &o.devices[dev]
	st.ended(client.NoCrash)
	o.gone(st, at)
	o.syncs(st)
	o.logins.mu.Lock()
	defer o.logins.mu.Unlock()
	o.logins.crashes++
}

// backlogLogins tells whether those who are connected from the start find a
// backlog, and nobody else logs in: then theirs are the logins that count.
func (r *run) backlogLogins() bool { return r.msgs.backlog > 0 && r.plannedLogins == 0 }

// loginFigures are what a login took. Requests and pages are those of logins
// that have synced.
func (r *run) loginFigures() {
	l, m := &r.obs.logins, r.out.Metrics
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.crashes() || r.crashesClients() {
		m.Set("crashes", float64(l.crashes))
	}
	if l.began == 0 && r.plannedLogins == 0 {
		return
	}
	synced := float64(l.synced)
	m.Set("logins", float64(l.began))
	m.Set("requests_per_login", float64(l.requests)/synced)
	m.Set("pages_per_login", float64(l.pages)/synced)
	m.Set("largest_response_bytes", float64(l.largest))
	if l.synced == 0 {
		m.SetNull("largest_response_bytes")
	}
	if n := l.abandoned + r.obs.tallies.syncing.Load(); n > 0 {
		r.warn("%d of %d logins ended without having synced", n, l.began)
	}
}
