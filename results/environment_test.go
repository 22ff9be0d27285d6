package results

import (
	"reflect"
	"testing"
)

func TestFingerprintIsStable(t *testing.T) {
	a := testEnvironment()
	if a.RAMGiB != 8 {
		t.Errorf("8,201,482,240 bytes are %d GiB, want 8 (7.64 rounded)", a.RAMGiB)
	}
	f := Facts{CPUModel: "Example CPU @ 2.50GHz", Cores: 2, RAMBytes: 8_150_000_000, Kernel: "6.1.0-13-amd64",
		OS: "Debian GNU/Linux 12 (bookworm)", Arch: "amd64", GoVersion: "go1.26.0", RedisVersion: "7.0.15", GOMAXPROCS: 2}
	if b := FingerprintFrom(f); b.Hash != a.Hash || len(Differences(a, b)) != 0 {
		t.Error("50 MB less for the kernel make another machine")
	}
	f.RedisVersion = "7.2.4"
	b := FingerprintFrom(f)
	if got, want := Differences(a, b), []Difference{{"Redis", "7.0.15", "7.2.4"}}; b.Hash == a.Hash || !reflect.DeepEqual(got, want) {
		t.Errorf("differences %v, want %v", got, want)
	}
}

// Every fact must make a difference, to the hash and to the list.
func TestEveryFactCounts(t *testing.T) {
	base := FingerprintFrom(Facts{})
	typ := reflect.TypeFor[Facts]()
	for i := range typ.NumField() {
		var f Facts
		switch v := reflect.ValueOf(&f).Elem().Field(i); v.Kind() {
		case reflect.String:
			v.SetString("other")
		case reflect.Int:
			v.SetInt(7)
		case reflect.Uint64:
			v.SetUint(7 << 30)
		}
		if got := FingerprintFrom(f); got.Hash == base.Hash || len(Differences(base, got)) != 1 {
			t.Errorf("%s makes no difference", typ.Field(i).Name)
		}
	}
}

func TestParseProc(t *testing.T) {
	model, cores := parseCPUInfo([]byte("processor\t: 0\nmodel name\t: Example  CPU @ 2.50GHz\ncpu MHz\t\t: 2499.99\n\nprocessor\t: 1\nmodel name\t: Example  CPU @ 2.50GHz\n"))
	if model != "Example CPU @ 2.50GHz" || cores != 2 {
		t.Errorf("%q, %d cores", model, cores)
	}
	if model, cores = parseCPUInfo([]byte("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n")); model != "implementer 0x41 part 0xd0c" || cores != 1 {
		t.Errorf("Arm: %q, %d cores", model, cores)
	}
	if got := parseMemTotal([]byte("MemTotal:        8009260 kB\nMemFree:  1 kB\n")); got != 8_009_260*1024 {
		t.Errorf("MemTotal is %d", got)
	}
	if got := parseOSName([]byte("ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n")); got != "Debian GNU/Linux 12 (bookworm)" {
		t.Errorf("OS is %q", got)
	}
}

func TestCollect(t *testing.T) {
	f := Collect("7.0.15")
	if f.Cores < 1 || f.GOMAXPROCS < 1 || f.CPUModel == "" || f.Kernel == "" || f.OS == "" || f.RedisVersion != "7.0.15" {
		t.Errorf("%+v", f)
	}
	if FingerprintFrom(f) != FingerprintFrom(Collect("7.0.15")) {
		t.Error("collected twice, two environments")
	}
}
