package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestCodes(t *testing.T) {
	for _, tc := range []struct {
		code   Code
		status int
		retry  bool
	}{
		{CodeBadRequest, 400, false},
		{CodeUnauthenticated, 401, false},
		{CodeForbidden, 403, false},
		{CodeNotMember, 403, false},
		{CodeNotFriend, 403, false},
		{CodeNoSuchUser, 404, false},
		{CodeNoSuchGroup, 404, false},
		{CodeNotFound, 404, false},
		{CodeReplaced, 409, false},
		{CodeTooLarge, 413, false},
		{CodeTooMany, 422, false},
		{CodeUnsupported, 422, false},
		{CodeOverloaded, 429, true},
		{CodeUnavailable, 503, true},
		{CodeShuttingDown, 503, true},
		{CodeInternal, 500, false},
		{"of a later version", 500, false},
	} {
		t.Run(string(tc.code), func(t *testing.T) {
			if got := tc.code.HTTPStatus(); got != tc.status {
				t.Errorf("status %d, want %d", got, tc.status)
			}
			if got := tc.code.Retryable(); got != tc.retry {
				t.Errorf("retryable %v, want %v", got, tc.retry)
			}
		})
	}
}

func TestAsFault(t *testing.T) {
	if f := AsFault(nil); f != nil {
		t.Errorf("nil became %v", f)
	}
	own := Faultf(CodeNotMember, "alice isn't a member")
	if f := AsFault(fmt.Errorf("send: %w", own)); f != own {
		t.Errorf("a wrapped fault became %v", f)
	}
	for _, err := range []error{context.DeadlineExceeded, context.Canceled} {
		if f := AsFault(fmt.Errorf("read: %w", err)); f.Code != CodeUnavailable || !errors.Is(f, err) {
			t.Errorf("%v became %v", err, f)
		}
	}

	secret := errors.New("dial /run/redis.sock: refused")
	f := AsFault(secret)
	if f.Code != CodeInternal || !errors.Is(f, secret) {
		t.Errorf("an unknown error became %v", f)
	}
	if strings.Contains(f.Frame(1).Message, "redis") {
		t.Errorf("the peer reads %q", f.Frame(1).Message)
	}
	if !strings.Contains(f.Error(), "redis") {
		t.Errorf("the log reads %q", f.Error())
	}
}

func TestFault(t *testing.T) {
	f := Faultf(CodeOverloaded, "queue of %d is full: %w", 8, io.ErrShortWrite)
	f.Conversation = "g:7"
	if want := "overloaded: g:7: queue of 8 is full: short write"; f.Error() != want {
		t.Errorf("Error() = %q, want %q", f.Error(), want)
	}
	if !errors.Is(f, io.ErrShortWrite) {
		t.Error("%w was lost")
	}
	frame := f.Frame(9)
	if frame.Ref != 9 || frame.Code != "overloaded" || !frame.Retryable || frame.Conversation != "g:7" || frame.Message != "queue of 8 is full: short write" {
		t.Errorf("frame %v", frame)
	}
	if back := frame.Fault(); back.Code != f.Code || back.Message != f.Message || back.Conversation != f.Conversation {
		t.Errorf("came back as %v", back)
	}
	if (*Error)(nil).Fault() == nil {
		t.Error("a missing error frame has no fault")
	}
}
