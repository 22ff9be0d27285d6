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
//	NS:{g:ID}:members  zset     member = user, score = cursor: a seq, or a time in Unix ms
//	NS:{u:ID}:inbox    stream   direct messages of a user
//	NS:{u:ID}:senders  zset     score 0, member = 'SENDER SEQ', the seq in 16 digits: the inbox by sender
//	NS:{u:ID}:user     string   the user exists
//	NS:{u:ID}:groups   set      groups of the user; may name one group too many, never one too few
//	NS:{u:ID}:friends  zset     score 0, so that names are listed in byte order
//	NS:{u:ID}:copies   zset     group design copies: score 0, member = 'g:ID SEQ RECORD', the seq in 16 digits
//	NS:{u:ID}:pending  zset     group design ids: score 0, member = 'g:ID SEQ'
//	NS:{u:ID}:fanned   hash     copies, ids: group → 'EPOCH SEQ' of the last row that was written, though it may be gone
//	NS:{g:ID}:storing  hash     copies, ids: seq → 'EPOCH' of a message whose rows aren't all there; copies 'EPOCH RECORD'
//	NS:{g:ID}:refs     hash     ids: seq → ids left, so that the body goes with the last one; '@' → generation of the counts; '+' while they are taken anew
//	NS:{…}:meta        hash     epoch, base, former (see doc.go); copies, ids: seq of a group
//	NS:{…}:sent:BUCKET hash     idempotent sends of one time bucket
//	NS:epoch           hash     run_id, epoch, design
//	NS:presence        zset     copies, ids for who is offline: member = user, score = until when it is online, Unix ms
type keyspace struct {
	prefix   string // "NS:{"
	epoch    string
	presence string
}

func newKeyspace(namespace string) keyspace {
	return keyspace{prefix: namespace + ":{", epoch: namespace + ":epoch", presence: namespace + ":presence"}
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

func (k keyspace) copies(user string) string       { return k.key(wire.Inbox(user), "copies") }
func (k keyspace) pending(user string) string      { return k.key(wire.Inbox(user), "pending") }
func (k keyspace) fanned(user string) string       { return k.key(wire.Inbox(user), "fanned") }
func (k keyspace) storing(group string) string     { return k.key(group, "storing") }
func (k keyspace) refs(group string) string        { return k.key(group, "refs") }
func (k keyspace) groupLog(group string) string    { return k.key(group, "log") }
func (k keyspace) members(group string) string     { return k.key(group, "members") }
func (k keyspace) meta(conversation string) string { return k.key(conversation, "meta") }
func (k keyspace) user(user string) string         { return k.key(wire.Inbox(user), "user") }
func (k keyspace) groups(user string) string       { return k.key(wire.Inbox(user), "groups") }
func (k keyspace) senders(inbox string) string     { return k.key(inbox, "senders") }
func (k keyspace) friends(user string) string      { return k.key(wire.Inbox(user), "friends") }

// countKeys are the keys of the scripts that end the storing of messages.
func (k keyspace) countKeys(group string) []string {
	return []string{k.storing(group), k.refs(group), k.groupLog(group)}
}

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
	appendGroupKeys  = []string{"log", "members", "sent:", "meta", "sent:"}
	appendRowsKeys   = []string{"log", "members", "sent:", "meta", "storing", "sent:"}
	appendInboxKeys  = []string{"inbox", "user", "sent:", "meta", "friends", "sent:"}
	indexedInboxKeys = []string{"inbox", "user", "sent:", "meta", "friends", "senders", "sent:"}
)

// maxAppendKeys is the most keys of an append script.
const maxAppendKeys = 7

// appendKeys returns the keys of an append script in the scripts' order, cut
// out of one string: one allocation for a send.
func (k keyspace) appendKeys(keys []string, kind wire.Kind, conversation string, bucket int64, limited bool, cfg *Config) []string {
	names := appendGroupKeys
	switch {
	case kind == wire.KindInbox && cfg.SenderIndex:
		names = indexedInboxKeys
	case kind == wire.KindInbox:
		names = appendInboxKeys
	case cfg.keepsRows():
		names = appendRowsKeys
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
