package wire

import (
	"errors"
	"regexp"
	"strings"
	"testing"
)

func TestParseConversation(t *testing.T) {
	long := strings.Repeat("a", 64)
	for _, tc := range []struct {
		name, in string
		kind     Kind
		id       string
		ok       bool
	}{
		{"group", "g:7", KindGroup, "7", true},
		{"inbox", "u:alice", KindInbox, "alice", true},
		{"all kinds of character", "g:aZ09_.-", KindGroup, "aZ09_.-", true},
		{"64 characters", "u:" + long, KindInbox, long, true},
		{"65 characters", "u:" + long + "a", 0, "", false},
		{"empty", "", 0, "", false},
		{"no id", "g:", 0, "", false},
		{"no kind", "alice", 0, "", false},
		{"another kind", "x:alice", 0, "", false},
		{"prefix in capitals", "G:7", 0, "", false},
		{"space", "g:a b", 0, "", false},
		{"braces would move the hash tag", "g:a}b", 0, "", false},
		{"colon", "g:g:7", 0, "", false},
		{"not ASCII", "u:ålice", 0, "", false},
		{"control", "u:a\x00", 0, "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			kind, id, err := ParseConversation(tc.in)
			if kind != tc.kind || id != tc.id || (err == nil) != tc.ok {
				t.Fatalf("got %v %q %v", kind, id, err)
			}
			if !tc.ok {
				wantCode(t, err, CodeBadRequest)
			}
		})
	}
	if got := Group("7"); got != "g:7" {
		t.Errorf("Group: %q", got)
	}
	if got := Inbox("alice"); got != "u:alice" {
		t.Errorf("Inbox: %q", got)
	}
}

func TestCheckClientMsgID(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		ok       bool
	}{
		{"counter", "r3.0.152", true},
		{"first and last printable", "!~", true},
		{"braces and colons", "{a}:b", true},
		{"64", strings.Repeat("x", 64), true},
		{"65", strings.Repeat("x", 65), false},
		{"empty", "", false},
		{"space", "a b", false},
		{"newline", "a\n", false},
		{"delete", "a\x7f", false},
		{"not ASCII", "é", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := CheckClientMsgID(tc.in)
			if (err == nil) != tc.ok {
				t.Fatal(err)
			}
			if err != nil {
				wantCode(t, err, CodeBadRequest)
			}
		})
	}
}

func TestIDErrorsSayWhere(t *testing.T) {
	err := CheckID("user", "al ice")
	if want := `user "al ice": byte 3 is " "`; !strings.Contains(err.Error(), want) {
		t.Errorf("%q has no %q", err, want)
	}
	if err := CheckID("user", strings.Repeat("x", 1<<20)); len(err.Error()) > 200 {
		t.Errorf("the error repeats all of a huge id: %d bytes", len(err.Error()))
	}
}

func FuzzParseConversation(f *testing.F) {
	for _, s := range []string{"g:7", "u:alice", "", "g:", "u:a b", "x:1", "u:é"} {
		f.Add(s)
	}
	valid := regexp.MustCompile(`^[gu]:[A-Za-z0-9_.-]{1,64}$`)
	f.Fuzz(func(t *testing.T, s string) {
		kind, id, err := ParseConversation(s)
		// $ also matches before a last newline only with (?m), so this is exact.
		if (err == nil) != valid.MatchString(s) {
			t.Fatalf("%q: %v", s, err)
		}
		if err != nil {
			return
		}
		if back := map[Kind]string{KindGroup: Group(id), KindInbox: Inbox(id)}[kind]; back != s {
			t.Fatalf("%q became %q", s, back)
		}
	})
}

func wantCode(t *testing.T, err error, want Code) {
	t.Helper()
	var f *Fault
	if !errors.As(err, &f) {
		t.Fatalf("%v is no *Fault, want %s", err, want)
	}
	if f.Code != want {
		t.Fatalf("code is %s (%v), want %s", f.Code, err, want)
	}
}
