package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"ackmark/loadgen/client"
	"ackmark/loadgen/measure"
	"ackmark/profiles"
)

// lives is what becomes of devices beside those that are connected from the
// start and stay: who logs in and when, who leaves and comes back, and who logs
// in again after a crash.
type lives struct {
	run *run
	ctx context.Context // ends when nobody logs in any more
	end context.CancelFunc
	// visits ends with the measure phase: who is online then stays, who is away
	// stays away.
	visits    context.Context
	endVisits context.CancelFunc

	mu     sync.Mutex // guards closed, and that nothing begins after it
	closed bool
	wg     sync.WaitGroup
}

func newLives(r *run, ctx context.Context) *lives {
	l := &lives{run: r}
	l.ctx, l.end = context.WithCancel(ctx)
	l.visits, l.endVisits = context.WithCancel(l.ctx)
	return l
}

// close ends all that is under way, and waits. Devices stay as they are.
func (l *lives) close() {
	l.end()
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.wg.Wait()
}

// begin runs a part of a life in a goroutine of its own, unless that is over.
func (l *lives) begin(part func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.wg.Go(part)
	}
	return !l.closed
}

// wait returns false when ctx ended first.
func (l *lives) wait(ctx context.Context, d time.Duration) bool {
	return newWaiter(l.run.clock).until(ctx, l.run.clock.now()+d) == nil
}

// arrive has a user log in who was offline, at the time that the schedule
// intended. It doesn't wait.
func (l *lives) arrive(user int, intended time.Duration) {
	l.begin(func() {
		r := l.run
		w := r.obs.window.Load()
		l.late(user, intended, w)
		if !l.login(user, intended, true) {
			return
		}
		if w.holds(intended) {
			r.obs.tallies.leftInPhase.Add(1)
		}
		l.visit(user)
	})
}

// late records how late a login begins, where nothing is sent: beside messages
// their lateness is what the schedule lag tells, and that of a login is inside
// its connect and sync times, which count from when it was intended.
func (l *lives) late(user int, intended time.Duration, w *window) {
	r := l.run
	if t := r.profile.Traffic; t.Group != nil || t.Direct != nil {
		return
	}
	lag := max(r.clock.now()-intended, 0)
	w.recorder.Shard(user).Record(measure.ScheduleLag, intended, lag)
	if w.holds(intended) && lag > lateAfter {
		r.obs.tallies.lateSends.Add(1)
	}
}

// visit has a user who is online leave after the time of a session, and come
// back, for as long as the measure phase lasts.
func (l *lives) visit(user int) {
	session, away := l.run.profile.Clients.Session.Std(), l.run.profile.Clients.Away.Std()
	for session > 0 && l.wait(l.visits, session) {
		if !l.leave(user) {
			continue // crashed, and not back yet
		}
		if away == 0 || !l.wait(l.visits, away) || !l.login(user, l.run.clock.now(), true) {
			return
		}
	}
}

// login connects a user's device, with what an earlier one had persisted. It
// returns when the server has welcomed it; false when it didn't. counts says
// whether it is among the logins that the run measures.
func (l *lives) login(user int, intended time.Duration, counts bool) bool {
	r := l.run
	token, err := r.token(user)
	if err != nil {
		r.obs.trouble.note("couldn't log in", err)
		return false
	}
	id, seat := client.Identity{Index: user, User: r.pop.Users[user], Token: token}, &r.seats[user]
	d := r.fleet.DeviceFrom(id, seat.former())
	r.obs.dials(user, intended, counts)
	seat.device.Store(d)
	ctx, cancel := context.WithTimeout(l.ctx, connectTimeout)
	defer cancel()
	err = d.Start(ctx)
	if err == nil || seat.device.Load() != d { // welcomed; or it crashed right after, or left
		return true
	}
	if seat.device.CompareAndSwap(d, nil) {
		r.obs.left(user, r.clock.now())
		seat.keep(d)
	}
	if l.ctx.Err() == nil {
		r.obs.trouble.note("couldn't log in", err)
	}
	return false
}

// leave closes a user's device in order; false when there is none.
func (l *lives) leave(user int) bool {
	r, seat := l.run, &l.run.seats[user]
	d := seat.take()
	if d == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(l.ctx, closeTimeout)
	defer cancel()
	if err := d.Close(ctx); err != nil {
		for errors.Unwrap(err) != nil { // which device it was would make each a class of its own
			err = errors.Unwrap(err)
		}
		r.obs.trouble.note("couldn't leave in order", err)
	}
	r.obs.left(user, r.clock.now())
	seat.keep(d)
	return true
}

// crashed has a user log in again after a crash. It is called by the device
// that dies, and doesn't wait.
func (l *lives) crashed(user int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	seat := &l.run.seats[user]
	d := seat.take()
	if d == nil {
		return // it was leaving anyway
	}
	l.wg.Go(func() {
		d.Crash() // waits until all of it has ended
		seat.keep(d)
		if l.wait(l.ctx, l.run.profile.Clients.Crash.Relogin.Std()) {
			l.login(user, l.run.clock.now(), true)
			return
		}
		l.run.obs.left(user, l.run.clock.now())
	})
}

// crash crashes users' devices, as a power cut would, and has them log in again
// after the time that they are down. It returns, with how many there were, when
// they are dead: from then on the drain waits until they have synced again.
func (l *lives) crash(users []int, down time.Duration) (n int) {
	var dying sync.WaitGroup
	for _, u := range users {
		d := l.run.seats[u].take()
		if d == nil {
			continue // leaving, or crashed otherwise
		}
		dying.Add(1)
		if !l.begin(func() { l.crashOne(u, d, down, dying.Done) }) {
			l.run.seats[u].device.Store(d) // too late: it ends with the run
			dying.Done()
			continue
		}
		n++
	}
	dying.Wait()
	return n
}

func (l *lives) crashOne(user int, d *client.Device, down time.Duration, dead func()) {
	r, at := l.run, l.run.clock.now()
	d.Crash()
	r.obs.powerCut(user, at)
	r.seats[user].keep(d)
	dead()
	if l.wait(l.ctx, down) {
		l.login(user, r.clock.now(), r.plannedLogins > 0 || r.msgs.backlog > 0)
		return
	}
	r.obs.left(user, r.clock.now())
}

// crashing says for each login whether its client crashes: with the profile's
// probability, drawn from seed, user and login, so that each variant with the
// same logins crashes the same ones.
func crashing(c profiles.Crash, seed uint64) func(dev, login int) bool {
	return func(dev, login int) bool {
		if c.Login > 0 && login != c.Login {
			return false
		}
		rng := rand.New(rand.NewPCG(seed^streamCrash, uint64(dev)<<32|uint64(login)))
		return rng.Float64()*100 < float64(c.Probability)
	}
}

const streamCrash = 0x6372617368
