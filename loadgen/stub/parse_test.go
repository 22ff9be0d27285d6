package stub

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestParseDelay(t *testing.T) {
	const ms = time.Millisecond
	for text, want := range map[string]Delay{
		"constant 80ms":         Constant(80 * ms),
		"uniform 40ms 90ms":     Uniform{40 * ms, 90 * ms},
		"log-normal 60ms 0.25":  LogNormal{60 * ms, 0.25},
		"bimodal 40ms 90ms 0.2": Bimodal{40 * ms, 90 * ms, 0.2},
	} {
		if got, err := ParseDelay(text); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "constant", "constant 80", "constant -1ms", "uniform 90ms 40ms", "uniform 1ms", "log-normal 60ms NaN",
		"log-normal 60ms 4", "bimodal 1ms 2ms 1.5", "bimodal 1ms 2ms", "normal 1ms 2ms", "constant 2h"} {
		if got, err := ParseDelay(text); err == nil {
			t.Errorf("%q is %v, want an error", text, got)
		}
	}
}

func FuzzParseDelay(f *testing.F) {
	for _, s := range []string{"constant 80ms", "uniform 40ms 90ms", "log-normal 60ms 0.25", "bimodal 40ms 90ms 0.2", "bimodal 1h 0s 1e-9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDelay(s)
		if err != nil {
			return
		}
		rng := rand.New(rand.NewPCG(1, 2))
		for range 10 {
			if x := d.Draw(rng); x < 0 {
				t.Errorf("%q draws %v", s, x)
			}
		}
	})
}
