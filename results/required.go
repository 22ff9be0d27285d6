package results

import (
	"slices"

	"ackmark/profiles"
)

// DefaultRequired returns the metrics without which a message run says nothing.
func DefaultRequired() []string {
	return []string{
		"sends", "deliveries", "expected_deliveries", "deliveries_per_s", "achieved_percent",
		"ack_requests", "send.p99", "live.p99", "schedule_lag.p99", "hiccup.p99",
	}
}

// RequiredFor returns the metrics without which a run of this profile says
// nothing: those of sends where there are any, of pushes where somebody is
// online, of logins where users log in, of crashes where clients crash, by a fault
// or when they pull.
func RequiredFor(p *profiles.Profile) []string {
	sends, logins := p.Traffic.Group != nil || p.Traffic.Direct != nil, p.Traffic.Login != nil
	pushes := sends && p.Clients.Online > 0
	out := slices.DeleteFunc(DefaultRequired(), func(name string) bool {
		switch name {
		case "send.p99":
			return !sends
		case "live.p99":
			return !pushes
		case "achieved_percent", "schedule_lag.p99":
			return !sends && !logins
		}
		return false
	})
	if logins {
		out = append(out, "logins", "requests_per_login")
	}
	switch crashes := p.Clients.Crash.Between != "" && p.Clients.Crash.Between != profiles.CrashOff; {
	case crashes: // one may take all that waited (d3), which leaves nothing to sync
		out = append(out, "crashes", "crash_dropped")
	case logins:
		out = append(out, "sync.p99")
	}
	if slices.ContainsFunc(p.Faults, func(f profiles.Fault) bool { return f.Kind == profiles.FaultCrashClients }) {
		out = append(out, "crashes", "redelivered_per_crash")
	}
	return out
}
