package engine

import (
	"fmt"
	"iter"
	"runtime"
	"time"

	"ackmark/loadgen/ledger"
	"ackmark/loadgen/measure"
	"ackmark/loadgen/schedule"
	"ackmark/profiles"
)

// events walks the schedule; it may be walked any number of times.
func (r *run) events() iter.Seq[schedule.Event] { return schedule.Events(r.profile, r.pop, r.seed) }

// backlogEvents walks what waits before anybody logs in, as events does.
func (r *run) backlogEvents() iter.Seq[schedule.Event] {
	return schedule.Backlog(r.profile, r.pop, r.seed)
}

// books opens the ledger and the observer that fills it.
func (r *run) books(tag string) error {
	pop := r.pop
	r.msgs = newMessages(tag, pop.Conversations(), r.backlogEvents(), r.events())
	conversations := make([]ledger.Conversation, pop.Conversations())
	onlineIn := make([]int64, pop.Conversations())
	for c := range conversations {
		conversations[c].Name = pop.Conversation(c)
		if len(r.msgs.intended[c]) == 0 {
			continue // nothing is sent there
		}
		if c < len(pop.Groups) {
			conversations[c].Recipients = pop.Groups[c].Members
			onlineIn[c] = int64(len(pop.Groups[c].Online))
		} else {
			u := c - len(pop.Groups)
			conversations[c].Recipients = []int{u}
			if pop.Online[u] {
				onlineIn[c] = 1
			}
		}
		conversations[c].Senders = make([]int, 0, len(r.msgs.intended[c]))
	}
	for e := range r.backlogEvents() {
		conversations[e.Conversation].Senders = append(conversations[e.Conversation].Senders, e.Sender)
	}
	for e := range r.events() {
		if e.Kind == schedule.Login {
			r.plannedLogins++
			continue
		}
		conversations[e.Conversation].Senders = append(conversations[e.Conversation].Senders, e.Sender)
	}
	l, err := ledger.New(ledger.Config{
		Conversations: conversations, Online: func(u int) bool { return pop.Online[u] },
		Present: func(u int) bool { return r.device(u) != nil }, Repeats: r.profile.Server.Dedup == profiles.Off,
	})
	if err != nil {
		return err
	}
	policy, err := policyOf(r.profile.Clients.Ack)
	if err != nil {
		return usage(fmt.Errorf("variant %s: %w", r.setting.Name, err))
	}
	r.ledger = l
	r.seats = make([]seat, len(pop.Users))
	p := r.profile.Phases
	setup, err := measure.NewRecorder(measure.Config{
		Shards: runtime.GOMAXPROCS(0), MeasureEnd: setupBudget + (p.Warmup + p.Measure + p.Drain).Std(),
	})
	if err != nil {
		return usage(fmt.Errorf("variant %s: %w", r.setting.Name, err))
	}
	groups := len(pop.Groups)
	r.obs = &observer{
		msgs: r.msgs, ledger: l, policy: policy, setup: setup, devices: make([]deviceState, len(pop.Users)),
		online: func(c, sender int) int64 {
			if c < groups && pop.Online[sender] {
				return onlineIn[c] - 1 // a sender doesn't receive its own message
			}
			return onlineIn[c]
		},
		crashed: func(user int) { r.lives.crashed(user) },
	}
	return nil
}

// setupBudget is the longest that start and seed are recorded for.
const setupBudget = 15 * time.Minute
