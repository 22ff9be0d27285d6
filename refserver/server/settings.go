package server

import (
	"slices"
	"time"

	"github.com/spf13/pflag"
)

// options is what `refserver serve` takes: a Config and what concerns the
// process rather than the service.
type options struct {
	Config
	tokenSecretFile, adminSecretFile string
	addrFile                         string
	exitWithStdin                    bool
	logLevel, logFormat              string
}

func defaultOptions() *options {
	return &options{Config: DefaultConfig(), logLevel: "info", logFormat: "text"}
}

// setting is one flag. Its environment variable is ACKMARK_ and the flag's
// name in capitals, with _ for -.
type setting struct {
	group, name string
	arg         string // what the value is, "" for a switch
	help        string // unit and meaning, without the default
	secret      bool   // its value isn't shown
	bind        func(fs *pflag.FlagSet, name, usage string)
}

func text(p *string) func(*pflag.FlagSet, string, string) {
	return func(fs *pflag.FlagSet, name, usage string) { fs.StringVar(p, name, *p, usage) }
}

func duration(p *time.Duration) func(*pflag.FlagSet, string, string) {
	return func(fs *pflag.FlagSet, name, usage string) { fs.DurationVar(p, name, *p, usage) }
}

func number(p *int) func(*pflag.FlagSet, string, string) {
	return func(fs *pflag.FlagSet, name, usage string) { fs.IntVar(p, name, *p, usage) }
}

func flag(p *bool) func(*pflag.FlagSet, string, string) {
	return func(fs *pflag.FlagSet, name, usage string) { fs.BoolVar(p, name, *p, usage) }
}

func sized(p *int) func(*pflag.FlagSet, string, string) {
	return func(fs *pflag.FlagSet, name, usage string) { fs.Var((*size)(p), name, usage) }
}

// settings lists every flag of serve, in the order of its help.
func (o *options) settings() []setting {
	return slices.Concat(o.serviceSettings(), o.designSettings(), o.deliverySettings(), o.limitSettings(), o.processSettings())
}

func (o *options) serviceSettings() []setting {
	return []setting{
		{group: "Service", name: "listen", arg: "HOST:PORT", bind: text(&o.Listen),
			help: "address that clients connect to; port 0 takes a free one. Without secrets a loopback address is the only choice"},
		{group: "Service", name: "redis", arg: "URL", bind: text(&o.Redis),
			help: "the store: redis://HOST:PORT, rediss:// with TLS, unix:///PATH. Its maxmemory-policy has to be noeviction"},
		{group: "Service", name: "namespace", arg: "NAME", bind: text(&o.Namespace),
			help: "stands before every key, so that several services can share one Redis"},

		{group: "Secrets", name: "token-secret", arg: "SECRET", secret: true, bind: text(&o.TokenSecret),
			help: "key of the users' tokens (JWT, HS256), 16 bytes or more. Others on this machine can see flags: prefer the file or ACKMARK_TOKEN_SECRET"},
		{group: "Secrets", name: "token-secret-file", arg: "PATH", bind: text(&o.tokenSecretFile),
			help: "file that holds the token secret"},
		{group: "Secrets", name: "admin-secret", arg: "SECRET", secret: true, bind: text(&o.AdminSecret),
			help: "opens /v1/admin, 16 bytes or more; not set: no admin API"},
		{group: "Secrets", name: "admin-secret-file", arg: "PATH", bind: text(&o.adminSecretFile),
			help: "file that holds the admin secret"},
		{group: "Secrets", name: "insecure-dev", bind: flag(&o.InsecureDev),
			help: "both secrets are \"" + DevSecret + "\"; loopback only, for trying things out"},
	}
}

func (o *options) deliverySettings() []setting {
	return []setting{
		{group: "Delivery", name: "ack-join", arg: "TIME", bind: duration(&o.AckJoin),
			help: "acks gather that long, then one Redis command per group moves all their cursors"},
		{group: "Delivery", name: "ack-flush", arg: "TIME", bind: duration(&o.AckFlush),
			help: "write-behind: cursors are stored at most that often. A crash then means redelivery of that much, never loss. 0: off"},
		{group: "Delivery", name: "retransmit", arg: "TIME", bind: duration(&o.Retransmit),
			help: "what is unacked that long without progress is sent again. 0: never"},
		{group: "Delivery", name: "window", arg: "N", bind: number(&o.Window),
			help: "most deliveries in flight, unacked, per connection"},
		{group: "Delivery", name: "queue", arg: "N", bind: number(&o.Queue),
			help: "most frames waiting on a connection; a client that is slower is told to pull"},
		{group: "Delivery", name: "queue-bytes", arg: "SIZE", bind: sized(&o.QueueBytes),
			help: "most bytes waiting on a connection"},
		{group: "Delivery", name: "page", arg: "N", bind: number(&o.Page),
			help: "messages in a page when the client names no limit"},
		{group: "Delivery", name: "max-page", arg: "N", bind: number(&o.MaxPage),
			help: "most messages in a page"},
		{group: "Delivery", name: "max-response", arg: "SIZE", bind: sized(&o.MaxResponse),
			help: "largest answer to a pull; a pull of everything that would be larger is refused"},
		{group: "Delivery", name: "max-friends", arg: "N", bind: number(&o.MaxFriends),
			help: "most names in one answer of the friend list"},
		{group: "Delivery", name: "retention", arg: "N", bind: number(&o.Retention),
			help: "most messages in a group's log; older ones go even if a member hasn't acked them. 0: no limit"},
		{group: "Delivery", name: "dedup-for", arg: "TIME", bind: duration(&o.DedupFor),
			help: "how long a resend with the same client_msg_id finds the first one. 0: for ever"},
		{group: "Delivery", name: "friends-only", bind: flag(&o.FriendsOnly),
			help: "only friends may send direct messages"},
	}
}

func (o *options) limitSettings() []setting {
	return []setting{
		{group: "Limits", name: "max-body", arg: "SIZE", bind: sized(&o.MaxBody),
			help: "largest body of a message"},
		{group: "Limits", name: "max-frame", arg: "SIZE", bind: sized(&o.MaxFrame),
			help: "largest WebSocket message and largest JSON request"},
		{group: "Limits", name: "max-admin-body", arg: "SIZE", bind: sized(&o.MaxAdminBody),
			help: "largest admin request"},
		{group: "Limits", name: "max-admin-names", arg: "N", bind: number(&o.MaxAdminNames),
			help: "most names in one admin request"},
		{group: "Limits", name: "max-connections", arg: "N", bind: number(&o.MaxConnections),
			help: "most WebSocket connections"},
		{group: "Limits", name: "max-http-connections", arg: "N", bind: number(&o.MaxHTTPConnections),
			help: "most HTTP connections, handshakes included"},
		{group: "Limits", name: "max-requests", arg: "N", bind: number(&o.MaxRequests),
			help: "most HTTP requests being served"},
		{group: "Limits", name: "max-in-flight", arg: "N", bind: number(&o.MaxInFlight),
			help: "most sends of one connection that wait for the store"},

		{group: "Times", name: "hello-timeout", arg: "TIME", bind: duration(&o.HelloTimeout),
			help: "from the WebSocket handshake to the hello"},
		{group: "Times", name: "idle-timeout", arg: "TIME", bind: duration(&o.IdleTimeout),
			help: "a connection is pinged that often, and ended when nothing has come since the last ping"},
		{group: "Times", name: "read-timeout", arg: "TIME", bind: duration(&o.ReadTimeout),
			help: "to read one whole HTTP request"},
		{group: "Times", name: "write-timeout", arg: "TIME", bind: duration(&o.WriteTimeout),
			help: "a write that is stuck that long ends the connection"},
		{group: "Times", name: "request-timeout", arg: "TIME", bind: duration(&o.RequestTimeout),
			help: "to serve one HTTP request, one hello or one pull"},
		{group: "Times", name: "drain-timeout", arg: "TIME", bind: duration(&o.DrainTimeout),
			help: "to close connections and flush acks after SIGTERM or SIGINT"},
	}
}

func (o *options) processSettings() []setting {
	return []setting{
		{group: "Process", name: "addr-file", arg: "PATH", bind: text(&o.addrFile),
			help: "once ready, HOST:PORT is written there, in one piece; removed at the end"},
		{group: "Process", name: "exit-with-stdin", bind: flag(&o.exitWithStdin),
			help: "stop, as after SIGTERM, when standard input ends: whoever started the server is gone"},
		{group: "Process", name: "log-level", arg: "LEVEL", bind: text(&o.logLevel),
			help: "debug, info, warn or error; debug logs every request"},
		{group: "Process", name: "log-format", arg: "FORMAT", bind: text(&o.logFormat),
			help: "text or json; logs go to standard error"},
		{group: "Process", name: "pprof", arg: "HOST:PORT", bind: text(&o.Pprof),
			help: "serves profiles under /debug/pprof/, on loopback only; not set: off"},
	}
}
