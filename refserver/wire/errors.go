package wire

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// Code names what went wrong, the same word in error frames, JSON and logs.
type Code string

// The codes. Only overloaded, unavailable and shutting_down are retryable: the
// same request may succeed later.
const (
	CodeBadRequest      Code = "bad_request"     // malformed, or a value out of its range
	CodeUnauthenticated Code = "unauthenticated" // no token, or one that is invalid or expired
	CodeForbidden       Code = "forbidden"       // authenticated, but not for this
	CodeNotMember       Code = "not_member"      // not a member of the group
	CodeNoSuchUser      Code = "no_such_user"    // the user was never created
	CodeNoSuchGroup     Code = "no_such_group"   // the group has no members
	CodeNotFriend       Code = "not_friend"      // only friends may send direct messages here
	CodeTooLarge        Code = "too_large"       // a body or message over its limit in bytes
	CodeTooMany         Code = "too_many"        // a list over its limit in entries
	CodeUnsupported     Code = "unsupported"     // this server's setting doesn't offer it
	CodeNotFound        Code = "not_found"       // no such path
	CodeReplaced        Code = "replaced"        // a newer connection took this one's place
	CodeOverloaded      Code = "overloaded"      // a queue is full
	CodeUnavailable     Code = "unavailable"     // the store can't be reached in time
	CodeShuttingDown    Code = "shutting_down"   // the server drains
	CodeInternal        Code = "internal"        // a defect of the server
)

// HTTPStatus returns the status of an HTTP answer with this code; 500 for one
// that it doesn't know.
func (c Code) HTTPStatus() int {
	switch c {
	case CodeBadRequest:
		return http.StatusBadRequest
	case CodeUnauthenticated:
		return http.StatusUnauthorized
	case CodeForbidden, CodeNotMember, CodeNotFriend:
		return http.StatusForbidden
	case CodeNoSuchUser, CodeNoSuchGroup, CodeNotFound:
		return http.StatusNotFound
	case CodeReplaced:
		return http.StatusConflict
	case CodeTooLarge:
		return http.StatusRequestEntityTooLarge
	case CodeTooMany, CodeUnsupported:
		return http.StatusUnprocessableEntity
	case CodeOverloaded:
		return http.StatusTooManyRequests
	case CodeUnavailable, CodeShuttingDown:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// Retryable tells whether the same request may succeed later.
func (c Code) Retryable() bool {
	return c == CodeOverloaded || c == CodeUnavailable || c == CodeShuttingDown
}

// Fault is an error that is told to the peer.
type Fault struct {
	Code         Code
	Message      string // what is wrong and what would be right; the peer reads it
	Conversation string // which conversation it concerns, if one

	cause  error // what Unwrap returns
	hidden bool  // cause isn't part of Message: for logs, not for the peer
}

// Faultf makes a Fault with a formatted message. A %w in the format keeps its
// error for [errors.Is] and [errors.As].
func Faultf(code Code, format string, args ...any) *Fault {
	err := fmt.Errorf(format, args...)
	return &Fault{Code: code, Message: err.Error(), cause: errors.Unwrap(err)}
}

// AsFault turns any error into a Fault: the Fault that it wraps; unavailable
// for a context that ended; else internal, with a message that gives nothing
// of the server away (Error and Unwrap still have the cause). nil stays nil.
func AsFault(err error) *Fault {
	if err == nil {
		return nil
	}
	var f *Fault
	if errors.As(err, &f) && f != nil {
		return f
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return &Fault{Code: CodeUnavailable, Message: "not done in time; try again", cause: err, hidden: true}
	}
	return &Fault{Code: CodeInternal, Message: "the server failed; its log says why", cause: err, hidden: true}
}

// Error returns code, conversation, message and, where AsFault hid it from
// the peer, the cause: the form for logs.
func (f *Fault) Error() string {
	s := string(f.Code) + ": "
	if f.Conversation != "" {
		s += f.Conversation + ": "
	}
	s += f.Message
	if f.hidden {
		s += ": " + f.cause.Error()
	}
	return s
}

// Unwrap returns what caused the fault, or nil.
func (f *Fault) Unwrap() error { return f.cause }

// Frame returns the fault as the answer to the request with this ref; 0 when
// it concerns the connection.
func (f *Fault) Frame(ref uint64) *Error {
	return &Error{
		Ref:          ref,
		Code:         string(f.Code),
		Message:      f.Message,
		Retryable:    f.Code.Retryable(),
		Conversation: f.Conversation,
	}
}

// Fault returns a received error frame as the error that it reports.
func (x *Error) Fault() *Fault {
	return &Fault{Code: Code(x.GetCode()), Message: x.GetMessage(), Conversation: x.GetConversation()}
}
