package redisstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// Server says what the store runs on.
type Server struct {
	Version  string // Redis version; "" when embedded
	Embedded bool   // a store in memory that speaks the protocol (miniredis), not Redis
}

// minMajor is the oldest Redis: XADD 0-* and scripts that never outlive their
// process came with 7.0.
const minMajor = 7

var errConnectionLost = errors.New("the connection dropped while the epoch was being read")

// establish makes the scripts known to the Redis process that answers now, in
// the epoch that this process lives in. seen is the set that the caller found
// unknown; when it has been replaced already nothing is left to do.
//
// Everything happens on one connection that is never dialled again, so the
// scripts reach the very process that named the epoch: loaded into another one
// they would let old seqs into a new history.
func (s *Store) establish(ctx context.Context, seen *scriptSet) error {
	select {
	case s.establishing <- struct{}{}:
		defer func() { <-s.establishing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if s.scripts.Load() != seen {
		return nil
	}

	opt := *s.opt
	opt.PoolSize = 1
	dial := redis.NewDialer(s.opt)
	var dialled atomic.Bool
	opt.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if dialled.Swap(true) {
			return nil, errConnectionLost
		}
		return dial(ctx, network, addr)
	}
	c := redis.NewClient(&opt)
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })() // a context doesn't end a read by itself

	srv, err := s.inspect(ctx, c)
	var unfit *unfitError
	if errors.As(err, &unfit) && seen != nil {
		s.log.Error("this Redis can't keep messages", "redis", redact(s.cfg.URL), "why", unfit.Error())
	} else if err != nil {
		return err
	}
	set, err := s.load(ctx, c)
	if err != nil {
		return err
	}
	if err := s.checkNamespace(ctx, c); errors.As(err, &unfit) && seen != nil {
		s.log.Error("this namespace can't be used", "namespace", s.cfg.Namespace, "why", unfit.Error())
	} else if err != nil {
		return err
	}

	s.server.Store(&srv)
	if seen != nil && seen.epoch != set.epoch {
		s.counters.epochChanges.Add(1)
		s.log.Warn("the store restarted and may have lost its tail: a new epoch begins", "epoch", set.epoch, "before", seen.epoch)
		s.sink.EpochChanged(set.epoch) // before any answer of the new epoch
	}
	s.scripts.Store(set)
	return nil
}

// load asks for the epoch and loads its scripts.
func (s *Store) load(ctx context.Context, c *redis.Client) (*scriptSet, error) {
	text, err := scriptText("epoch")
	if err != nil {
		return nil, err
	}
	s.counters.issued(cmdEpoch, 1)
	epoch, err := c.Eval(ctx, text, []string{s.keys.epoch}).Uint64()
	if err != nil {
		return nil, err
	}
	set, err := newScriptSet(epoch, s.cfg)
	if err != nil {
		return nil, err
	}
	for i := range scriptCount {
		s.counters.issued(cmdEpoch, 1)
		sha, err := c.ScriptLoad(ctx, set.text[i]).Result()
		if err != nil {
			return nil, err
		}
		if sha != set.sha[i] {
			return nil, fmt.Errorf("script %s was loaded as %s", set.sha[i], sha)
		}
	}
	return set, nil
}

// unfitError is a Redis that answers, and that must not be used.
type unfitError struct{ why string }

func (e *unfitError) Error() string { return e.why }

// inspect looks at version and eviction.
func (s *Store) inspect(ctx context.Context, c *redis.Client) (Server, error) {
	s.counters.issued(cmdEpoch, 1)
	server, err := c.Info(ctx, "server").Result()
	if isRedisError(err, "section (server) is not supported") {
		return Server{Embedded: true}, nil
	}
	if err != nil {
		return Server{}, err
	}
	s.counters.issued(cmdEpoch, 1)
	memory, err := c.Info(ctx, "memory").Result()
	if err != nil {
		return Server{}, err
	}
	srv := Server{Version: infoField(server, "redis_version")}
	major, _, _ := strings.Cut(srv.Version, ".")
	if n, err := strconv.Atoi(major); err != nil || n < minMajor {
		return srv, &unfitError{fmt.Sprintf("version %q is too old; want Redis %d.0 or later", srv.Version, minMajor)}
	}
	if policy := infoField(memory, "maxmemory_policy"); policy != "noeviction" {
		return srv, &unfitError{fmt.Sprintf("maxmemory-policy %s may evict messages; set it to noeviction", policy)}
	}
	return srv, nil
}

// infoField returns one value of an INFO answer, "" when it isn't there.
func infoField(info, name string) string {
	lines := bufio.NewScanner(strings.NewReader(info))
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// explain turns what Start met into what would be right.
func (s *Store) explain(err error) error {
	var op *net.OpError
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return fmt.Errorf("unknown host %q; is the URL right?", dns.Name)
	case errors.As(err, &op) && op.Op == "dial":
		return fmt.Errorf("can't connect (%w); is a Redis running there?", op.Err)
	case isRedisError(err, "NOAUTH"), isRedisError(err, "WRONGPASS"), isRedisError(err, "ERR AUTH"):
		return fmt.Errorf("not let in (%w); put user and password into the URL", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no answer within %v", s.cfg.CallTimeout)
	}
	return err
}
