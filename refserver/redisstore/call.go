package redisstore

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"ackmark/refserver/wire"
)

// outcome says what an answer, or its absence, asks for.
type outcome int

const (
	outcomeDone     outcome = iota // answered
	outcomeNoScript                // this process doesn't know the scripts: find the epoch, then again
	outcomeAgain                   // no answer, or one that passes: wait, then again
	outcomeRefused                 // Redis can't store now: answer unavailable
	outcomeDefect                  // wrong types, wrong script: a defect
)

// passing are the errors of a Redis that will soon answer otherwise.
var passing = []string{"LOADING", "BUSY", "MASTERDOWN", "READONLY", "TRYAGAIN", "CLUSTERDOWN", "ERR max number of clients"}

// refusing are the errors of a Redis that needs an operator.
var refusing = []string{"OOM", "MISCONF", "NOREPLICAS", "NOAUTH", "WRONGPASS", "NOPERM"}

func classify(err error) outcome {
	if err == nil || errors.Is(err, redis.Nil) {
		return outcomeDone
	}
	var answer redis.Error
	if !errors.As(err, &answer) {
		return outcomeAgain // the connection: it may have run
	}
	if isRedisError(err, "NOSCRIPT") {
		return outcomeNoScript
	}
	for _, prefix := range passing {
		if isRedisError(err, prefix) {
			return outcomeAgain
		}
	}
	for _, prefix := range refusing {
		if isRedisError(err, prefix) {
			return outcomeRefused
		}
	}
	return outcomeDefect
}

// isRedisError tells whether Redis itself answered with an error that begins so.
func isRedisError(err error, prefix string) bool {
	var answer redis.Error
	return errors.As(err, &answer) && strings.HasPrefix(answer.Error(), prefix)
}

// do makes one round trip with what build returns, again and again until Redis
// has answered or the context (at most CallTimeout) has ended. The commands
// have to be idempotent. With an epoch other than 0 nothing is done in another
// one. The error is a *wire.Fault; else every command is answered.
func (s *Store) do(ctx context.Context, cmd command, epoch uint64, build func(*scriptSet) []redis.Cmder) ([]redis.Cmder, error) {
	return s.attempt(ctx, cmd, epoch, func(error) bool { return true }, build)
}

// doOnce is do for commands that are not idempotent: they are issued again only
// where the attempt before has surely not run.
func (s *Store) doOnce(ctx context.Context, cmd command, epoch uint64, build func(*scriptSet) []redis.Cmder) ([]redis.Cmder, error) {
	return s.attempt(ctx, cmd, epoch, didNotRun, build)
}

// didNotRun says of an error that the command can't have run: Redis refused it,
// or was never reached.
func didNotRun(err error) bool {
	var answer redis.Error
	var op *net.OpError
	return errors.As(err, &answer) || errors.As(err, &op) && op.Op == "dial"
}

// attempt is do, as long as what went wrong may be tried again.
func (s *Store) attempt(ctx context.Context, cmd command, epoch uint64, again func(error) bool, build func(*scriptSet) []redis.Cmder) ([]redis.Cmder, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	var pause backoff
	for {
		set := s.scripts.Load()
		if set == nil {
			return nil, wire.Faultf(wire.CodeUnavailable, "the store isn't started")
		}
		if epoch != 0 && epoch != set.epoch {
			return nil, wire.Faultf(wire.CodeUnavailable, "epoch %d is over, %d is now; say hello again", epoch, set.epoch)
		}
		cmds := build(set)
		if len(cmds) == 0 {
			return nil, nil
		}
		err := s.exec(ctx, cmd, cmds)
		switch worst(cmds) {
		case outcomeDone:
			return cmds, nil
		case outcomeNoScript:
			if err = s.establish(ctx, set); err == nil {
				s.counters.retries.Add(uint64(len(cmds)))
				continue
			}
		case outcomeRefused:
			s.trouble.log(s.log, s.cfg.Now(), err)
			return nil, wire.Faultf(wire.CodeUnavailable, "the store takes no messages now; try again later")
		case outcomeDefect:
			s.log.Error("redis answered with an error", "for", commandNames[cmd], "err", err)
			return nil, wire.Faultf(wire.CodeInternal, "the store failed; the server's log says why")
		}
		s.trouble.log(s.log, s.cfg.Now(), err)
		if !again(err) {
			return nil, wire.Faultf(wire.CodeUnavailable, "the store's answer was lost, and what the request may have removed with it; ask for what is left")
		}
		if !pause.wait(ctx, s.stop) {
			return nil, wire.Faultf(wire.CodeUnavailable, "the store can't be reached; try again")
		}
		s.counters.retries.Add(uint64(len(cmds)))
	}
}

// exec makes one round trip and counts it. The error is the first command's
// that has one.
func (s *Store) exec(ctx context.Context, cmd command, cmds []redis.Cmder) error {
	s.counters.issued(cmd, len(cmds))
	if len(cmds) == 1 {
		return s.client.Process(ctx, cmds[0])
	}
	pipe := s.client.Pipeline()
	for _, c := range cmds {
		_ = pipe.Process(ctx, c) // queues; the error is the command's
	}
	_, err := pipe.Exec(ctx)
	return err
}

// worst returns what the commands together ask for.
func worst(cmds []redis.Cmder) outcome {
	w := outcomeDone
	for _, c := range cmds {
		w = max(w, classify(c.Err()))
	}
	return w
}

// evalSHA is one call of a script.
func evalSHA(ctx context.Context, set *scriptSet, which script, keys []string, args ...any) *redis.Cmd {
	all := make([]any, 0, 3+len(keys)+len(args))
	all = append(all, "evalsha", set.sha[which], len(keys))
	for i := range keys {
		all = append(all, &keys[i])
	}
	cmd := redis.NewCmd(ctx, append(all, args...)...)
	if len(keys) > 0 {
		cmd.SetFirstKeyPos(3)
	}
	return cmd
}

const (
	firstPause = 2 * time.Millisecond
	maxPause   = 200 * time.Millisecond
)

// backoff doubles the pause between attempts.
type backoff struct{ next time.Duration }

// wait pauses; false when a context ended first.
func (b *backoff) wait(ctx, stop context.Context) bool {
	b.next = min(max(2*b.next, firstPause), maxPause)
	t := time.NewTimer(b.next)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	case <-stop.Done():
		return false
	}
}

// troubleLog keeps a Redis that is away from filling the log.
type troubleLog struct {
	mu   sync.Mutex
	last time.Time // guarded by mu
}

const troubleEvery = time.Second

func (t *troubleLog) log(log *slog.Logger, now time.Time, err error) {
	t.mu.Lock()
	quiet := now.Sub(t.last) < troubleEvery
	if !quiet {
		t.last = now
	}
	t.mu.Unlock()
	if !quiet {
		log.Warn("redis doesn't answer as it should; trying again", "err", err)
	}
}
