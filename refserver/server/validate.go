package server

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"time"
)

// frameEnvelope is what a frame may need around a body: names, ids, JSON.
const frameEnvelope = 4 << 10

// Validate says what is wrong with a setting, by its flag's name, and what
// would be right.
func (c Config) Validate() error {
	for _, check := range []func(Config) error{checkListen, checkRedis, checkSecrets, checkDesign, checkTimes, checkNumbers, checkRelations} {
		if err := check(c); err != nil {
			return err
		}
	}
	return nil
}

func checkListen(c Config) error {
	if _, _, err := splitAddress("listen", c.Listen); err != nil {
		return err
	}
	if c.Pprof == "" {
		return nil
	}
	host, _, err := splitAddress("pprof", c.Pprof)
	if err != nil {
		return err
	}
	if !isLoopback(host) {
		return fmt.Errorf("--pprof %q: profiles are served on loopback only; 127.0.0.1:PORT is right", c.Pprof)
	}
	return nil
}

func splitAddress(flag, address string) (host string, port int, err error) {
	host, p, err := net.SplitHostPort(address)
	if err == nil {
		port, err = strconv.Atoi(p)
	}
	if err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("--%s %q: HOST:PORT is right, with a port from 0 (any free one) to 65535", flag, address)
	}
	return host, port, nil
}

// isLoopback says whether only this machine can reach a host; an empty one is
// every interface.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

func checkRedis(c Config) error {
	u, err := url.Parse(c.Redis)
	switch {
	case err != nil:
		return fmt.Errorf("--redis: not a URL; redis://HOST:PORT, rediss://HOST:PORT or unix:///PATH is right")
	case u.Scheme != "redis" && u.Scheme != "rediss" && u.Scheme != "unix":
		return fmt.Errorf("--redis %q: redis://HOST:PORT, rediss://HOST:PORT or unix:///PATH is right", u.Redacted())
	}
	return nil
}

func checkSecrets(c Config) error {
	host, _, _ := net.SplitHostPort(c.Listen)
	local := isLoopback(host)
	switch {
	case c.InsecureDev && (c.TokenSecret != "" || c.AdminSecret != ""):
		return fmt.Errorf("--insecure-dev brings its own secrets: leave it away, or the other secrets")
	case c.InsecureDev && !local:
		return fmt.Errorf("--insecure-dev on --listen %s: its secret is known to everybody, so it is taken on loopback only; set --token-secret-file and --admin-secret-file", c.Listen)
	case c.InsecureDev:
		return nil
	case c.TokenSecret == "" && local:
		return fmt.Errorf("no token secret: set --token-secret-file (or ACKMARK_TOKEN_SECRET), or --insecure-dev to try things out on this machine")
	case c.TokenSecret == "":
		return fmt.Errorf("no token secret on --listen %s, which other machines can reach: set --token-secret-file (or ACKMARK_TOKEN_SECRET)", c.Listen)
	case len(c.TokenSecret) < minSecret:
		return fmt.Errorf("the token secret has %d bytes: at least %d are right (openssl rand -hex 32)", len(c.TokenSecret), minSecret)
	case c.AdminSecret != "" && len(c.AdminSecret) < minSecret:
		return fmt.Errorf("the admin secret has %d bytes: at least %d are right (openssl rand -hex 32)", len(c.AdminSecret), minSecret)
	case c.AdminSecret == c.TokenSecret:
		return fmt.Errorf("admin and token secret are the same: whoever can mint tokens would be admin; choose two")
	}
	return nil
}

func checkTimes(c Config) error {
	for _, d := range []struct {
		flag     string
		v        time.Duration
		min, max time.Duration
		zero     bool
	}{
		{"ack-join", c.AckJoin, time.Microsecond, time.Second, false},
		{"ack-flush", c.AckFlush, time.Millisecond, time.Minute, true},
		{"retransmit", c.Retransmit, 10 * time.Millisecond, time.Hour, true},
		{"dedup-for", c.DedupFor, time.Second, 30 * 24 * time.Hour, true},
		{"hello-timeout", c.HelloTimeout, 10 * time.Millisecond, time.Minute, false},
		{"idle-timeout", c.IdleTimeout, 10 * time.Millisecond, time.Hour, false},
		{"read-timeout", c.ReadTimeout, 10 * time.Millisecond, time.Minute, false},
		{"write-timeout", c.WriteTimeout, 10 * time.Millisecond, time.Minute, false},
		{"request-timeout", c.RequestTimeout, 10 * time.Millisecond, time.Minute, false},
		{"drain-timeout", c.DrainTimeout, 10 * time.Millisecond, 10 * time.Minute, false},
	} {
		if d.zero && d.v == 0 {
			continue
		}
		if d.v < d.min || d.v > d.max {
			or := ""
			if d.zero {
				or = "0, or "
			}
			return fmt.Errorf("--%s %s: %sfrom %s to %s is right", d.flag, d.v, or, d.min, d.max)
		}
	}
	return nil
}

func checkNumbers(c Config) error {
	for _, n := range []struct {
		flag        string
		v, min, max int
	}{
		{"window", c.Window, 1, 1 << 20},
		{"queue", c.Queue, 8, 1 << 20},
		{"queue-bytes", c.QueueBytes, 16 << 10, 1 << 30},
		{"page", c.Page, 1, 100_000},
		{"max-page", c.MaxPage, 1, 100_000},
		{"max-response", c.MaxResponse, 4 << 10, 1 << 30},
		{"max-friends", c.MaxFriends, 1, 1 << 20},
		{"retention", c.Retention, 0, 1 << 40},
		{"max-body", c.MaxBody, 1, 16 << 20},
		{"max-frame", c.MaxFrame, frameEnvelope, 128 << 20},
		{"max-admin-body", c.MaxAdminBody, 1 << 10, 128 << 20},
		{"max-admin-names", c.MaxAdminNames, 1, 1 << 20},
		{"max-connections", c.MaxConnections, 1, 1 << 24},
		{"max-http-connections", c.MaxHTTPConnections, 1, 1 << 20},
		{"max-requests", c.MaxRequests, 1, 1 << 20},
		{"max-in-flight", c.MaxInFlight, 1, 1 << 20},
	} {
		if n.v < n.min || n.v > n.max {
			return fmt.Errorf("--%s %d: from %d to %d is right", n.flag, n.v, n.min, n.max)
		}
	}
	return nil
}

func checkRelations(c Config) error {
	switch {
	case c.Page > c.MaxPage:
		return fmt.Errorf("--page %d is larger than --max-page %d: at most that is right", c.Page, c.MaxPage)
	case c.MaxFrame < c.MaxBody+frameEnvelope:
		return fmt.Errorf("--max-frame %s doesn't hold a body of --max-body %s: at least %s is right",
			formatSize(c.MaxFrame), formatSize(c.MaxBody), formatSize(c.MaxBody+frameEnvelope))
	case c.Retransmit > 0 && c.AckJoin+c.AckFlush >= c.Retransmit:
		return fmt.Errorf("--ack-join %s + --ack-flush %s isn't below --retransmit %s: acked messages would be sent again", c.AckJoin, c.AckFlush, c.Retransmit)
	}
	return nil
}
