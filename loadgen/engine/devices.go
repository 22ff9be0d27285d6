package engine

import (
	"errors"
	"net"
	"strings"

	"ackmark/loadgen/client"
	"ackmark/loadgen/client/ackpolicy"
	"ackmark/loadgen/client/dedup"
	"ackmark/loadgen/launch"
	"ackmark/profiles"
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

// newFleet prepares what all devices of the run have in common.
func (r *run) newFleet() error {
	cfg, err := deviceConfig(r.profile.Clients, r.seed)
	if err != nil {
		return err
	}
	cfg.Driver, cfg.Clock, cfg.Observer, cfg.Ack = r.newDriver(), r.clock.now, r.obs, r.obs.policy
	r.fleet, err = client.NewFleet(cfg)
	return err
}

// deviceConfig is what a profile says of its devices, but for driver, clock,
// observer and ack policy.
func deviceConfig(c profiles.Clients, seed uint64) (client.Config, error) {
	var failed error
	resume, err := client.ParseResume(c.Resume)
	failed = errors.Join(failed, err)
	mode, err := client.ParsePullMode(c.Pull.Mode)
	failed = errors.Join(failed, err)
	groups, err := client.ParseGroupPull(c.Pull.Groups)
	failed = errors.Join(failed, err)
	order, err := client.ParseOrder(c.Pull.Order)
	failed = errors.Join(failed, err)
	ack, err := client.ParsePullAck(c.Pull.Ack)
	failed = errors.Join(failed, err)
	known, err := dedup.ParseMode(c.Dedup)
	failed = errors.Join(failed, err)
	point, err := client.ParseCrashPoint(c.Crash.Between)
	failed = errors.Join(failed, err)
	cfg := client.Config{
		Resume: resume, Window: c.Window, Seed: seed,
		Send: client.Sending{Timeout: c.Send.Timeout.Std(), Retries: c.Send.Retries},
		Pull: client.Pulling{
			Mode: mode, Groups: groups, Order: order, Open: float64(c.Pull.Open) / 100, Page: c.Pull.Page, Ack: ack,
		},
		Dedup: dedup.Config{Mode: known},
		Crash: client.Crashing{Point: point, Decide: crashing(c.Crash, seed)},
	}
	if known == dedup.Window {
		cfg.Dedup.Window = c.DedupWindow
	}
	return cfg, failed
}

// httpParallel is how many requests of one device may be under way over HTTP,
// each on a connection of its own.
const httpParallel = 4

// newDriver speaks to the server by the profile's transport.
func (r *run) newDriver() client.Driver {
	var sources []net.IP
	if n := r.engine.machine.Sources; n > 1 {
		for i := range n {
			sources = append(sources, net.ParseIP(launch.SourceAddr(i, n)))
		}
	}
	if c := r.profile.Clients; c.Transport == profiles.TransportHTTP {
		r.polls = countPolls(&client.HTTP{
			URL: r.server.URL(), Clock: r.clock.now, Poll: c.Poll.Std(), Parallel: httpParallel, Sources: sources,
		})
		return r.polls
	}
	return &client.WebSocket{
		URL: "ws" + strings.TrimPrefix(r.server.URL(), "http") + "/v1/connect", Clock: r.clock.now, Sources: sources,
	}
}

// designFlags are the settings of the server that choose a design, where they
// aren't its defaults.
func designFlags(s profiles.Server) []string {
	var flags []string
	for _, f := range []struct{ flag, value, usual string }{
		{"--group", s.Group, profiles.GroupCursor},
		{"--cursor", s.Cursor, profiles.CursorSeq},
		{"--store-for", s.StoreFor, profiles.StoreForAll},
		{"--remove", s.Remove, profiles.RemoveOnAck},
		{"--dedup", s.Dedup, profiles.On},
	} {
		if f.value != f.usual {
			flags = append(flags, f.flag, f.value)
		}
	}
	if s.SenderIndex == profiles.On {
		flags = append(flags, "--sender-index")
	}
	return flags
}
