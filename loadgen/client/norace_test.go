//go:build !race

package client

const raced = false
