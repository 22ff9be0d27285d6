package gateway

import (
	"crypto/rand"
	"crypto/rsa"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"ackmark/refserver/wire"
)

var testNow = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func at(t time.Time) func() time.Time { return func() time.Time { return t } }

func TestTokenRoundTrip(t *testing.T) {
	token, err := NewTokens(testSecret, at(testNow)).Mint("alice", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	user, expires, err := NewTokens(testSecret, at(testNow.Add(time.Hour-time.Second))).Verify(token)
	if err != nil || user != "alice" || !expires.Equal(testNow.Add(time.Hour)) {
		t.Errorf("%q, %v, %v; want alice until %v", user, expires, err, testNow.Add(time.Hour))
	}
}

func TestMintRefuses(t *testing.T) {
	tokens := NewTokens(testSecret, at(testNow))
	if _, err := tokens.Mint("not a name", time.Hour); err == nil {
		t.Error("a user with spaces was taken")
	}
	if _, err := tokens.Mint("alice", time.Millisecond); err == nil {
		t.Error("a lifetime of 1 ms was taken")
	}
}

func TestVerifyRefuses(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	sign := func(m jwt.SigningMethod, key any, c jwt.Claims) string {
		s, err := jwt.NewWithClaims(m, c).SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	in := jwt.NewNumericDate(testNow.Add(time.Hour))
	good := jwt.RegisteredClaims{Subject: "alice", ExpiresAt: in}
	valid := sign(jwt.SigningMethodHS256, []byte(testSecret), good)
	for _, c := range []struct{ name, token, message string }{
		{"none at all", "", "no token"},
		{"alg none", sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, good), "has to be HS256"},
		{"alg RS256", sign(jwt.SigningMethodRS256, key, good), "has to be HS256"},
		{"alg HS512, right secret", sign(jwt.SigningMethodHS512, []byte(testSecret), good), "has to be HS256"},
		{"another secret", sign(jwt.SigningMethodHS256, []byte("another"), good), "has to be HS256"},
		{"expired", sign(jwt.SigningMethodHS256, []byte(testSecret), jwt.RegisteredClaims{Subject: "alice", ExpiresAt: jwt.NewNumericDate(testNow)}), "expired at 2026-01-02T03:04:05Z"},
		{"no exp", sign(jwt.SigningMethodHS256, []byte(testSecret), jwt.RegisteredClaims{Subject: "alice"}), "has no exp"},
		{"not yet", sign(jwt.SigningMethodHS256, []byte(testSecret), jwt.RegisteredClaims{Subject: "alice", ExpiresAt: in, NotBefore: in}), "isn't valid yet"},
		{"no sub", sign(jwt.SigningMethodHS256, []byte(testSecret), jwt.RegisteredClaims{ExpiresAt: in}), "isn't a user name"},
		{"sub with a slash", sign(jwt.SigningMethodHS256, []byte(testSecret), jwt.RegisteredClaims{Subject: "a/b", ExpiresAt: in}), "isn't a user name"},
		{"changed", valid[:len(valid)-2] + "xx", "token"},
		{"no JWT", "hello", "malformed"},
		{"huge", strings.Repeat("a", maxToken+1), "longer than 4096"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := NewTokens(testSecret, at(testNow)).Verify(c.token)
			f := wire.AsFault(err)
			if f == nil || f.Code != wire.CodeUnauthenticated || !strings.Contains(f.Message, c.message) {
				t.Fatalf("%v; want unauthenticated with %q", err, c.message)
			}
			if c.token != "" && strings.Contains(f.Message, c.token) {
				t.Error("the message repeats the token")
			}
		})
	}
}

func FuzzVerify(f *testing.F) {
	tokens := NewTokens(testSecret, at(testNow))
	valid, err := tokens.Mint("alice", time.Hour)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(valid)
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	f.Add("..")
	f.Fuzz(func(t *testing.T, token string) {
		user, _, err := tokens.Verify(token)
		if err == nil && (token != valid || user != "alice") {
			t.Errorf("%q was taken for %q", token, user)
		}
	})
}
