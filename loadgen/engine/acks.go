package engine

import (
	"math"
	"slices"
	"time"

	"ackmark/loadgen/client/ackpolicy"
	"ackmark/loadgen/schedule"
	"ackmark/profiles"
	"ackmark/results"
)

// acks compares the ack requests of the measure phase with the policy replayed
// over the recorded arrivals, and with the closed form (measuring.md, 14). An ack
// belongs to the phase in which it was due, on both sides: the timers of a group's
// members fire together, and at the phase's end all of them may be a little late.
func (r *run) acks(w *window, seconds, deliveries float64) {
	m, out := r.out.Metrics, &r.out.Acks
	out.FlushCauses = map[string]int64{}
	var replayed, apart int64
	var area time.Duration
	most, online := 0, 0
	for i := range r.obs.devices {
		st := &r.obs.devices[i]
		if !st.used {
			continue
		}
		online++
		out.Requests += st.acksIn
		apart += st.pageAcks - st.unsentAcks
		for _, c := range ackpolicy.Causes() {
			if n := st.causes[c]; n > 0 {
				out.FlushCauses[c.String()] += n
			}
		}
		for _, replay := range st.replays {
			replay.Close(w.to)
			replayed += int64(replay.Acks())
		}
		st.unacked.close(w.to, w)
		area += st.unacked.area
		most = max(most, st.unacked.most)
	}
	requests := float64(out.Requests)
	m.Set("ack_requests", requests)
	m.Set("ack_requests_per_s", requests/seconds)
	m.Set("ack_requests_per_delivery", requests/deliveries)
	m.Set("acks_reduction", deliveries/requests)
	m.Set("unacked_window_mean", area.Seconds()/seconds/float64(online))
	m.Set("unacked_window_max", float64(most))
	if r.obs.policy.Kind == ackpolicy.None { // what is never acked isn't delivered again either
		m.SetNull("unacked_window_mean")
		m.SetNull("unacked_window_max")
	}

	if !r.cutShort(w) {
		// What a pull or a device that left brought about isn't the policy's to
		// decide, and what a crash kept from being sent was.
		replayed += apart
		out.Replayed = results.Count(replayed)
		out.ReplayedError = results.Number(requests/float64(replayed) - 1)
		m.Set("ack_requests_replayed", float64(replayed))
		m.Set("ack_requests_replayed_error", requests/float64(replayed)-1)
	} else {
		r.warn("the policy wasn't replayed: an interrupt cut the measure phase short")
	}
	predicted, chance := r.predict(w)
	if math.IsNaN(predicted) {
		m.SetNull("ack_requests_predicted_per_s")
		m.SetNull("ack_requests_predicted_error")
		return
	}
	out.Predicted, out.PredictedChance = results.Number(predicted), results.Number(chance)
	out.PredictedError = results.Number(requests/predicted - 1)
	m.Set("ack_requests_predicted_per_s", predicted/seconds)
	m.Set("ack_requests_predicted_error", requests/predicted-1)
}

// cutShort tells whether an interrupt ended the measure phase early.
func (r *run) cutShort(w *window) bool { return w.to-w.from < r.profile.Phases.Measure.Std() }

// stream is the deliveries of one conversation: what a closed form speaks of.
type stream struct {
	rate      float64 // deliveries/s that the profile offers to one receiver
	receivers float64 // that are online
	scheduled float64 // deliveries in the measure phase at all of them, by the schedule
}

// predict is the closed form's ack requests in the measure phase, and the
// relative error that chance alone explains. NaN where no closed form exists.
//
// The form is evaluated at the rate that the schedule really holds for the
// phase, which profile and seed determine, instead of the profile's: with r̂ of
// the arrivals known, a Poisson process says nothing more about the number of
// batches, so D·r̂/b(r̂) is off by less than both errors that Predict states,
// that of D·r/b(r) and that of deliveries ÷ b(r). The smaller of them is given.
//
// The members of a group receive the same messages at the same moments, so a
// group is one sample; groups and inboxes are independent of each other, so
// their errors add up as squares.
//
// Where users log in, or crash, what they pull is acked in other ways; over HTTP deliveries
// come together, by the poll.
func (r *run) predict(w *window) (requests, chance float64) {
	if r.plannedLogins > 0 || r.profile.Clients.Transport == profiles.TransportHTTP || r.crashes() || r.crashesClients() {
		return math.NaN(), math.NaN()
	}
	t, groups, all := r.profile.Traffic, len(r.pop.Groups), r.pop.Conversations()
	variance := 0.0
	for _, k := range []struct {
		flow     *profiles.Flow
		from, to int
	}{{t.Group, 0, groups}, {t.Direct, groups, all}} {
		if k.flow == nil {
			continue
		}
		n, v := r.predictKind(w, k.flow, k.from, k.to)
		requests += n
		variance += v
	}
	if requests == 0 {
		return math.NaN(), math.NaN()
	}
	return requests, math.Sqrt(variance) / requests
}

// predictKind is predict for the conversations [from, to) of one kind, with the
// variance of the ack requests.
func (r *run) predictKind(w *window, f *profiles.Flow, from, to int) (requests, variance float64) {
	arrivals, ok := r.arrivals(f, to <= len(r.pop.Groups))
	if !ok {
		return math.NaN(), math.NaN()
	}
	seconds := (w.to - w.from).Seconds()
	streams := make([]stream, 0, to-from)
	var offered, scheduled float64
	for c := from; c < to; c++ {
		s := r.stream(c, w)
		offered += s.rate * s.receivers * seconds
		scheduled += s.scheduled
		streams = append(streams, s)
	}
	if scheduled == 0 {
		return 0, 0
	}
	var p ackpolicy.Prediction
	last := -1.0
	for _, s := range streams {
		rate := s.rate * scheduled / offered
		if rate == 0 || s.receivers == 0 {
			continue
		}
		if rate != last { // inboxes all have one rate
			p, last = ackpolicy.Predict(r.obs.policy, rate, arrivals, w.to-w.from), rate
		}
		n := p.AckRate * s.receivers * seconds
		requests += n
		off := n * math.Min(p.RateError, p.BatchError)
		variance += off * off
	}
	return requests, variance
}

// arrivals is how deliveries are spaced at a receiver. Random senders thin a
// Poisson process into one of less rate; evenly spaced sends stay even only for
// a fixed sender who doesn't receive. Policies by number alone don't care.
func (r *run) arrivals(f *profiles.Flow, group bool) (ackpolicy.Arrivals, bool) {
	switch k := r.obs.policy.Kind; {
	case f.Arrivals == profiles.ArrivalsPoisson, k == ackpolicy.Each, k == ackpolicy.Count:
		return ackpolicy.Poisson, true
	case f.Arrivals == profiles.ArrivalsUniform && f.Senders == profiles.SendersFixed && group:
		return ackpolicy.Uniform, true
	}
	return 0, false
}

// stream gives the rate at one receiver of a conversation, how many there are,
// and the deliveries that the schedule holds for them in the measure phase.
func (r *run) stream(c int, w *window) (s stream) {
	t, pop := r.profile.Traffic, r.pop
	sends := 0.0
	for _, at := range r.msgs.intended[c] {
		if w.holds(at) {
			sends++
		}
	}
	if c < len(pop.Groups) {
		online := float64(len(pop.Groups[c].Online))
		s.rate = t.Group.Rate.PerSecond() / float64(len(pop.Groups))
		s.receivers = online - 1
		if t.Group.Senders != profiles.SendersFixed {
			s.rate *= (online - 1) / online // a member doesn't receive what it sends
			s.receivers = online
		}
		s.scheduled = sends * (online - 1)
		return s
	}
	if u := c - len(pop.Groups); pop.Online[u] {
		s.rate, s.receivers, s.scheduled = r.directRate(u), 1, sends
	}
	return s
}

// directRate is the rate of direct messages to one online user: each of the
// senders picks its receiver at random, among friends or everybody else.
func (r *run) directRate(u int) float64 {
	pop, f := r.pop, r.profile.Traffic.Direct
	rate, users := f.Rate.PerSecond(), float64(len(pop.Users))
	online := float64(schedule.DirectSenders(pop))
	switch {
	case pop.Friends > 0 && !pop.HasFriends(u):
		return 0 // nobody may write to it
	case f.Senders == profiles.SendersFixed && u == slices.Index(pop.Online, true):
		return 0 // the sender itself
	case f.Senders == profiles.SendersFixed && pop.Friends > 0:
		return rate / float64(pop.Friends)
	case f.Senders == profiles.SendersFixed:
		return rate / (users - 1)
	case pop.Friends > 0:
		share := 0.0
		for k := range pop.Friends {
			if f := pop.Friend(u, k); pop.Online[f] {
				share += 1 / float64(pop.Addressees(f))
			}
		}
		return rate / online * share
	}
	return rate / online * (online - 1) / (users - 1)
}
