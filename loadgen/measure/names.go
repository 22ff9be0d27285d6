package measure

import "fmt"

// Name says which latency a sample belongs to. Every name has a histogram of
// its own: a backlog mixed into live latency would ruin both.
type Name uint8

// The histograms of a run. "Response" counts from the intended time, "service"
// from the time the request really left; the two part when the generator is late.
const (
	// SendResponse: a send's intended time → its answer (stored).
	SendResponse Name = iota
	// SendService: a send's departure → its answer.
	SendService
	// Live: the sender's intended time → arrival at one connected recipient.
	Live
	// LiveService: the send's departure → arrival at one connected recipient.
	LiveService
	// FanoutFirst, FanoutMedian and FanoutLast: the sender's intended time →
	// the first, the median and the last recipient of one message.
	FanoutFirst
	FanoutMedian
	FanoutLast
	// AckDelay: arrival of the oldest delivery of a batch → its ack request leaves.
	AckDelay
	// ScheduleLag: intended time → departure. The generator's own lateness.
	ScheduleLag
	// OfflineAge: a message's intended time → its arrival in a page.
	OfflineAge
	// Page: a page request → the page.
	Page
	// Sync: login → the last page acked.
	Sync
	// Connect: dial → welcome.
	Connect
	// Hiccup: a moment at which the generator meant to wake → when it did. What
	// a delivery may have waited for in the generator itself.
	Hiccup

	// NumNames is how many names there are.
	NumNames int = iota
)

var names = [NumNames]string{
	"send", "send_service", "live", "live_service",
	"fanout_first", "fanout_median", "fanout_last",
	"ack_delay", "schedule_lag", "offline_age", "page", "sync", "connect", "hiccup",
}

// String gives the name used in results, thresholds and .hlog tags.
func (n Name) String() string {
	if int(n) < NumNames {
		return names[n]
	}
	return fmt.Sprintf("name(%d)", uint8(n))
}

// ParseName is the inverse of String.
func ParseName(s string) (Name, error) {
	for i, n := range names {
		if n == s {
			return Name(i), nil
		}
	}
	return 0, fmt.Errorf("no histogram is called %q; there are %v", s, names)
}

// Counter says which event a throughput series counts.
type Counter uint8

// The throughput series of a run, counted when the event completed.
const (
	// Sends that left, retries not counted.
	Sends Counter = iota
	// Answers to sends: stored, also as a duplicate.
	Answers
	// Refusals: sends the server refused.
	Refusals
	// Retries of sends.
	Retries
	// Deliveries that arrived for the first time.
	Deliveries
	// Redeliveries: deliveries of something that had arrived before.
	Redeliveries
	// AckRequests that left.
	AckRequests
	// Pages that arrived.
	Pages
	// Reconnects that succeeded.
	Reconnects
	// Errors of any kind, each also classified elsewhere.
	Errors

	// NumCounters is how many counters there are.
	NumCounters int = iota
)

var counters = [NumCounters]string{
	"sends", "answers", "refusals", "retries", "deliveries", "redeliveries",
	"ack_requests", "pages", "reconnects", "errors",
}

// String gives the name used in results.
func (c Counter) String() string {
	if int(c) < NumCounters {
		return counters[c]
	}
	return fmt.Sprintf("counter(%d)", uint8(c))
}
