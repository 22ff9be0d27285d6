package engine

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// secret makes a key that nobody can guess, 32 bytes in hex.
func secret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return hex.EncodeToString(b)
}

// newTag makes the tag of one command's runs: 8 characters, so that two
// measurements on one Redis or one server don't meet.
func newTag() string {
	b := make([]byte, 4)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

// mint makes a user's token: JWT, HS256, expiring.
func mint(key []byte, user string, now time.Time, ttl time.Duration) (string, error) {
	t, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{
		Subject:   user,
		IssuedAt:  jwt.NewNumericDate(now),
		ExpiresAt: jwt.NewNumericDate(now.Add(ttl)),
	}).SignedString(key)
	if err != nil {
		return "", fmt.Errorf("minting the token of %s: %w", user, err)
	}
	return t, nil
}
