//go:build race

package client

// raced tells that the race detector is on, which makes every stack larger.
const raced = true
