//go:build !race

package server

import "testing"

// The race detector keeps memory of its own for each object, so this is
// checked without it.
func TestIdleConnectionIsSmall(t *testing.T) {
	rss, heap, stack, goroutines := idleCost(t, 2)
	t.Logf("per connection: %.0f bytes live (heap %.0f, stack %.0f), RSS %.0f, %.2f goroutines", heap+stack, heap, stack, rss, goroutines)
	if heap+stack > idleLiveLimit {
		t.Errorf("an idle connection holds %.0f bytes (heap %.0f, stack %.0f), want %d at most", heap+stack, heap, stack, idleLiveLimit)
	}
	if goroutines > 1.01 {
		t.Errorf("%.2f goroutines per connection, want 1", goroutines)
	}
}
