package gate

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ackmark/results"
)

func TestCalibrationFile(t *testing.T) {
	c := calibrated(t, 1)
	path := filepath.Join(t.TempDir(), "tolerances.json")
	if err := WriteCalibration(path, c); err != nil {
		t.Fatal(err)
	}
	back, err := ReadCalibration(path)
	if err != nil || !reflect.DeepEqual(back, c) {
		t.Errorf("%v\n%+v\n%+v", err, back, c)
	}
	if _, err := ReadCalibration(path + ".none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestCalibrationIsOfOneMachine(t *testing.T) {
	c := calibrated(t, 1) // of Redis 7.0.15, 2 cores
	if unlike := c.Unlike(machine("7.0.15", 2)); len(unlike) > 0 {
		t.Errorf("the same: %q", unlike)
	}
	want := []string{"cores: 4, calibrated was 2", "Redis: 8.0.0, calibrated was 7.0.15", "GOMAXPROCS: 4, calibrated was 2"}
	if unlike := c.Unlike(machine("8.0.0", 4)); !slices.Equal(unlike, want) {
		t.Errorf("%q\nwant %q", unlike, want)
	}
}

func TestDecodeCalibrationRefuses(t *testing.T) {
	good, err := EncodeCalibration(calibrated(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, from, to, want string }{
		{"another schema", SchemaCalibration, "ackmark/calibration/v9", "not known"},
		{"no schema", `"schema"`, `"scheme"`, "no \"schema\""},
		{"an unknown key", `"profile"`, `"profil"`, "unknown field"},
		{"no date", `"2026-01-02T03:04:05Z"`, `"0001-01-01T00:00:00Z"`, "no date"},
		{"few pairs", `"pairs": 26,` + "\n \"disc", `"pairs": 2,` + "\n \"disc", "8 or more"},
		{"a metric that isn't", `"metric": "live.p50"`, `"metric": "life.p50"`, "no metric"},
		{"a negative spread", `"spread": 0.07`, `"spread": -0.07`, "0 or more"},
		{"looks that fall", `"alpha": 0.05`, `"alpha": 0`, "alpha"},
		{"a tolerance of a count", `"tolerances": {`, `"tolerances": {"sends": 0.1,`, "isn't a timing"},
		{"a tolerance of null", `"tolerances": {`, `"tolerances": {"live.p99": null,`, "tolerance of 0"},
		{"a tolerance that wasn't found", `"tolerances": {`, `"tolerances": {"live.p99": 0.999,`, "live.p99 is 0.999, which doesn't follow"},
		{"one that is wider than found", `"server_cpu_us_per_delivery": 0.`, `"server_cpu_us_per_delivery": 0.9`, "doesn't follow"},
		{"something behind", "}\n", "}\n{}", "not a calibration"},
	} {
		text := string(good)
		i := strings.LastIndex(text, tt.from)
		if i < 0 {
			t.Fatalf("%s: %q isn't there", tt.name, tt.from)
		}
		text = text[:i] + tt.to + text[i+len(tt.from):]
		if _, err := DecodeCalibration([]byte(text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	if _, err := DecodeCalibration([]byte(" \n")); err == nil {
		t.Error("an empty file")
	}
	c := calibrated(t, 1)
	delete(c.Tolerances, "server_cpu_us_per_delivery")
	if _, err := EncodeCalibration(c); err == nil || !strings.Contains(err.Error(), "server_cpu_us_per_delivery is missing") {
		t.Errorf("a timing that is no longer held: %v", err)
	}
}

func FuzzCalibration(f *testing.F) {
	good, err := EncodeCalibration(calibrated(f, 2))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"schema":"ackmark/calibration/v1","pairs":8}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := DecodeCalibration(text)
		if err != nil {
			return
		}
		again, err := EncodeCalibration(c)
		if err != nil {
			t.Fatalf("what was read can't be written: %v", err)
		}
		if _, err := DecodeCalibration(again); err != nil {
			t.Fatalf("what was written can't be read: %v", err)
		}
		if err := RenderCalibration(&bytes.Buffer{}, c, results.TextOptions{Width: 80}); err != nil {
			t.Fatal(err)
		}
	})
}
