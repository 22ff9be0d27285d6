package engine

import (
	"fmt"
	"testing"
)

func TestInterleaved(t *testing.T) {
	for _, tt := range []struct {
		variants, repeats int
		want              string
	}{
		{3, 3, "A1 B1 C1 C2 B2 A2 A3 B3 C3"},
		{2, 2, "A1 B1 B2 A2"},
		{1, 3, "A1 A2 A3"},
		{2, 1, "A1 B1"},
	} {
		got := ""
		for i, x := range interleaved(tt.variants, tt.repeats) {
			if i > 0 {
				got += " "
			}
			got += fmt.Sprintf("%c%d", 'A'+x.variant, x.repeat)
		}
		if got != tt.want {
			t.Errorf("%d variants, %d repeats: %s, want %s", tt.variants, tt.repeats, got, tt.want)
		}
	}
}
