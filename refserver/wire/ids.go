package wire

import "strings"

// Kind tells a group from an inbox.
type Kind uint8

// The kinds of conversation.
const (
	KindGroup Kind = iota + 1 // "g:ID"
	KindInbox                 // "u:ID", a user's direct messages
)

// String returns "group" or "inbox".
func (k Kind) String() string {
	switch k {
	case KindGroup:
		return "group"
	case KindInbox:
		return "inbox"
	}
	return "unknown"
}

// MaxID is the most bytes of a user's or group's id and of a client_msg_id.
const MaxID = 64

const (
	groupPrefix = "g:"
	inboxPrefix = "u:"
)

// Group names the conversation of a group.
func Group(id string) string { return groupPrefix + id }

// Inbox names the conversation of a user's direct messages.
func Inbox(user string) string { return inboxPrefix + user }

// ParseConversation splits "g:ID" or "u:ID". The id is part of s. The error is
// a *Fault with code bad_request.
func ParseConversation(s string) (kind Kind, id string, err error) {
	var what string
	switch {
	case strings.HasPrefix(s, groupPrefix):
		kind, what = KindGroup, "group id"
	case strings.HasPrefix(s, inboxPrefix):
		kind, what = KindInbox, "user id"
	default:
		return 0, "", Faultf(CodeBadRequest, "conversation %q: want \"g:ID\" for a group or \"u:ID\" for an inbox", clip(s))
	}
	id = s[2:]
	if err := CheckID(what, id); err != nil {
		return 0, "", err
	}
	return kind, id, nil
}

// CheckID checks a user's or group's id: 1 to 64 of A–Z a–z 0–9 _ . -
// What names the id in the message. The error is a *Fault with code
// bad_request.
func CheckID(what, id string) error {
	if len(id) == 0 || len(id) > MaxID {
		return badLength(what, id)
	}
	for i := range len(id) {
		if !isIDByte(id[i]) {
			return Faultf(CodeBadRequest, "%s %q: byte %d is %q; only A-Z a-z 0-9 _ . - may be used", what, id, i+1, id[i:i+1])
		}
	}
	return nil
}

// CheckClientMsgID checks a sender's message id: 1 to 64 printable ASCII
// characters without space. The error is a *Fault with code bad_request.
func CheckClientMsgID(id string) error {
	if len(id) == 0 || len(id) > MaxID {
		return badLength("client_msg_id", id)
	}
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return Faultf(CodeBadRequest, "client_msg_id %q: byte %d is %q; only printable ASCII without space may be used", id, i+1, id[i:i+1])
		}
	}
	return nil
}

func isIDByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c == '-'
}

func badLength(what, id string) error {
	if id == "" {
		return Faultf(CodeBadRequest, "%s is empty; want 1 to %d characters", what, MaxID)
	}
	return Faultf(CodeBadRequest, "%s %q has %d bytes; want 1 to %d", what, clip(id), len(id), MaxID)
}

// clip keeps messages short when a peer sends something huge.
func clip(s string) string {
	if len(s) <= MaxID+8 {
		return s
	}
	return s[:MaxID] + "…"
}
