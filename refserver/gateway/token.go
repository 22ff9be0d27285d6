package gateway

import (
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"ackmark/refserver/wire"
)

// maxToken is the longest token that is looked at, in bytes.
const maxToken = 4 << 10

// Tokens mints and verifies user tokens: JWT signed with HS256, the user in
// sub, exp always there. No other algorithm is accepted, whatever a token's
// header says.
type Tokens struct {
	secret []byte
	parser *jwt.Parser
	now    func() time.Time
}

// NewTokens makes Tokens of one secret; now is the clock that exp is compared with.
func NewTokens(secret string, now func() time.Time) *Tokens {
	return &Tokens{
		secret: []byte(secret),
		now:    now,
		parser: jwt.NewParser(
			jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
			jwt.WithExpirationRequired(),
			jwt.WithStrictDecoding(),
			jwt.WithTimeFunc(now),
		),
	}
}

// Mint returns a token for user that expires after ttl, counted in whole seconds.
func (t *Tokens) Mint(user string, ttl time.Duration) (string, error) {
	if err := wire.CheckID("user", user); err != nil {
		return "", err
	}
	if ttl < time.Second {
		return "", fmt.Errorf("a token's lifetime is at least 1s, not %s", ttl)
	}
	now := t.now()
	return jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{
		Subject:   user,
		IssuedAt:  jwt.NewNumericDate(now),
		ExpiresAt: jwt.NewNumericDate(now.Add(ttl)),
	}).SignedString(t.secret)
}

// Verify returns whose token it is and when it expires; the error is a
// *wire.Fault of code unauthenticated that doesn't repeat the token.
func (t *Tokens) Verify(token string) (user string, expires time.Time, err error) {
	switch {
	case token == "":
		return "", time.Time{}, wire.Faultf(wire.CodeUnauthenticated,
			"no token: send the header \"Authorization: Bearer TOKEN\" (`refserver token --user NAME` mints one)")
	case len(token) > maxToken:
		return "", time.Time{}, wire.Faultf(wire.CodeUnauthenticated, "the token is longer than %d bytes", maxToken)
	}
	var claims jwt.RegisteredClaims
	_, err = t.parser.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return t.secret, nil })
	if err != nil {
		return "", time.Time{}, wire.Faultf(wire.CodeUnauthenticated, "%s", t.reason(err, &claims))
	}
	if wire.CheckID("user", claims.Subject) != nil {
		return "", time.Time{}, wire.Faultf(wire.CodeUnauthenticated,
			"the token's sub isn't a user name: 1 to 64 of letters, digits, \"_\", \".\" and \"-\" are right")
	}
	return claims.Subject, claims.ExpiresAt.Time, nil
}

func (t *Tokens) reason(err error, claims *jwt.RegisteredClaims) string {
	switch {
	case errors.Is(err, jwt.ErrTokenExpired):
		return fmt.Sprintf("the token expired at %s: get a new one", claims.ExpiresAt.UTC().Format(time.RFC3339))
	case errors.Is(err, jwt.ErrTokenNotValidYet):
		return "the token isn't valid yet (nbf lies ahead): compare the clocks of issuer and server"
	case errors.Is(err, jwt.ErrTokenRequiredClaimMissing):
		return "the token has no exp: tokens have to expire"
	case errors.Is(err, jwt.ErrTokenSignatureInvalid), errors.Is(err, jwt.ErrTokenUnverifiable):
		return "the token's signature isn't valid here: it has to be HS256 with this server's token secret"
	default:
		return "the token is malformed: a JWT of three parts is right"
	}
}
