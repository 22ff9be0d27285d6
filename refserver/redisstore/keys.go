package redisstore

import (
	"strconv"
	"strings"
	"time"

	"ackmark/refserver/wire"
)

// keyspace names keys. Everything of one conversation or user carries the
// conversation's name as its hash tag, so that it lies in one slot of a Redis
// Cluster and a script may touch it as a whole.
//
//	NS:{g:ID}:log      stream   messages of a group, entry 0-SEQ, field r = record
//	NS:{g:ID}:members  zset     member = user, score = cursor
//	NS:{u:ID}:inbox    stream   direct messages of a user
//	NS:{u:ID}:user     string   the user exists
//	NS:{u:ID}:groups   set      groups of the user; may name one group too many, never one too few
//	NS:{u:ID}:friends  zset     score 0, so that names are listed in byte order
//	NS:{…}:meta        hash     epoch, base
//	NS:{…}:sent:BUCKET hash     idempotent sends of one time bucket
//	NS:epoch           hash     run_id, epoch
type keyspace struct {
	prefix string // "NS:{"
	epoch  string
}

func newKeyspace(namespace string) keyspace {
	return keyspace{prefix: namespace + ":{", epoch: namespace + ":epoch"}
}

func (k keyspace) key(conversation, table string) string {
	return k.prefix + conversation + "}:" + table
}

func (k keyspace) log(kind wire.Kind, conversation string) string {
	if kind == wire.KindInbox {
		return k.key(conversation, "inbox")
	}
	return k.key(conversation, "log")
}

func (k keyspace) members(group string) string     { return k.key(group, "members") }
func (k keyspace) meta(conversation string) string { return k.key(conversation, "meta") }
func (k keyspace) user(user string) string         { return k.key(wire.Inbox(user), "user") }
func (k keyspace) groups(user string) string       { return k.key(wire.Inbox(user), "groups") }
func (k keyspace) friends(user string) string      { return k.key(wire.Inbox(user), "friends") }

// bucket numbers a bucket of idempotent sends; without a time limit there is one.
func bucket(now time.Time, dedupFor time.Duration) int64 {
	if dedupFor == 0 {
		return 0
	}
	return now.UnixNano() / int64(dedupFor)
}

// The keys of the append scripts, in their order; "sent:" is the current bucket
// first, then the previous one.
var (
	appendGroupKeys = []string{"log", "members", "sent:", "meta", "sent:"}
	appendInboxKeys = []string{"inbox", "user", "sent:", "meta", "friends", "sent:"}
)

// maxAppendKeys is the most keys of an append script.
const maxAppendKeys = 6

// appendKeys returns the keys of an append script in the scripts' order, cut
// out of one string: one allocation for a send.
func (k keyspace) appendKeys(keys []string, kind wire.Kind, conversation string, bucket int64, limited bool) []string {
	names := appendGroupKeys
	if kind == wire.KindInbox {
		names = appendInboxKeys
	}
	n := len(names)
	if !limited {
		n-- // there is no previous bucket
	}

	var b strings.Builder
	b.Grow(n * (len(k.prefix) + len(conversation) + 24))
	var ends [maxAppendKeys]int
	for i, name := range names[:n] {
		b.WriteString(k.prefix)
		b.WriteString(conversation)
		b.WriteString("}:")
		b.WriteString(name)
		if name == "sent:" {
			var num [20]byte
			b.Write(strconv.AppendInt(num[:0], bucket, 10))
			bucket--
		}
		ends[i] = b.Len()
	}
	all, from := b.String(), 0
	for _, end := range ends[:n] {
		keys = append(keys, all[from:end])
		from = end
	}
	return keys
}
