package engine

import (
	"testing"
	"time"
)

func TestUnackedArea(t *testing.T) {
	const s = time.Second
	w := &window{from: 10 * s, to: 20 * s}
	type step struct {
		n  int
		at time.Duration
	}
	for _, tt := range []struct {
		name  string
		steps []step
		area  time.Duration // deliveries × time within the window
		most  int
	}{
		// 2 from 12 to 15, 1 from 15 to 16: 2×3 + 1×1.
		{"inside", []step{{2, 12 * s}, {1, 15 * s}, {0, 16 * s}}, 7 * s, 2},
		// 3 from 5 to 11 and 1 to 30: 3×1 + 1×9; the 3 were reached before the window.
		{"cut at both ends", []step{{3, 5 * s}, {1, 11 * s}, {0, 30 * s}}, 12 * s, 1},
		{"before", []step{{9, 1 * s}, {0, 9 * s}}, 0, 0},
		{"after", []step{{9, 21 * s}, {0, 29 * s}}, 0, 0},
		{"never acked", []step{{4, 19 * s}}, 4 * s, 4},
		{"nothing", nil, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var u unackedArea
			for _, x := range tt.steps {
				u.set(x.n, x.at, w)
			}
			u.close(w.to, w)
			if u.area != tt.area || u.most != tt.most {
				t.Errorf("area %v, most %d; want %v and %d", u.area, u.most, tt.area, tt.most)
			}
		})
	}
	var u unackedArea
	u.set(1, s, nil) // before traffic there is no window
	if u.area != 0 || u.n != 1 {
		t.Errorf("without a window: %+v", u)
	}
}

func TestPhases(t *testing.T) {
	var p phases
	p.begin("start", 0)
	p.begin("measure", 2*time.Second)
	p.end(5 * time.Second)
	p.end(6 * time.Second) // it has ended
	p.begin("drain", 7*time.Second)
	p.end(8 * time.Second)
	want := [][2]float64{{0, 2000}, {2000, 5000}, {7000, 8000}}
	for i, w := range want {
		if p.list[i].StartMs != w[0] || p.list[i].EndMs != w[1] {
			t.Errorf("%s: %v to %v ms, want %v", p.list[i].Name, p.list[i].StartMs, p.list[i].EndMs, w)
		}
	}
}
