package results

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
)

// Facts are what Environment is made of. Only what stays the same from one
// measurement to the next on one machine belongs here: a fact such as free
// memory, load or clock speed would make every machine a stranger to itself.
type Facts struct {
	CPUModel     string
	Cores        int
	RAMBytes     uint64
	Kernel       string // release, as uname -r prints it
	OS           string
	Arch         string
	GoVersion    string
	RedisVersion string // "" when unknown
	GOMAXPROCS   int
}

// Environment identifies the machine and the software that were measured.
// Timings of results with different hashes are not comparable.
type Environment struct {
	CPUModel     string `json:"cpu_model"`
	Cores        int    `json:"cores"`
	RAMGiB       int    `json:"ram_gib"` // rounded, the kernel reserves a varying rest
	Kernel       string `json:"kernel"`
	OS           string `json:"os"`
	Arch         string `json:"arch"`
	GoVersion    string `json:"go_version"`
	RedisVersion string `json:"redis_version"`
	GOMAXPROCS   int    `json:"gomaxprocs"`
	Hash         string `json:"hash"` // sha256 of the above, hex
}

// FingerprintFrom rounds the facts and hashes them.
func FingerprintFrom(f Facts) Environment {
	e := Environment{
		CPUModel: f.CPUModel, Cores: f.Cores, RAMGiB: int(math.Round(float64(f.RAMBytes) / (1 << 30))),
		Kernel: f.Kernel, OS: f.OS, Arch: f.Arch, GoVersion: f.GoVersion,
		RedisVersion: f.RedisVersion, GOMAXPROCS: f.GOMAXPROCS,
	}
	e.Hash = e.hash()
	return e
}

// hash quotes the strings, so that no two environments give the same text.
func (e Environment) hash() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "ackmark/environment/v1 %q %d %d %q %q %q %q %q %d",
		e.CPUModel, e.Cores, e.RAMGiB, e.Kernel, e.OS, e.Arch, e.GoVersion, e.RedisVersion, e.GOMAXPROCS))
	return hex.EncodeToString(sum[:])
}

// Difference is one fact in which two environments differ.
type Difference struct{ What, A, B string }

// Differences lists the facts in which a and b differ, in a fixed order; none
// means that timings may be compared.
func Differences(a, b Environment) []Difference {
	var out []Difference
	add := func(what string, x, y any) {
		if x != y {
			out = append(out, Difference{what, fmt.Sprint(x), fmt.Sprint(y)})
		}
	}
	add("CPU model", a.CPUModel, b.CPUModel)
	add("cores", a.Cores, b.Cores)
	add("RAM (GiB)", a.RAMGiB, b.RAMGiB)
	add("kernel", a.Kernel, b.Kernel)
	add("OS", a.OS, b.OS)
	add("architecture", a.Arch, b.Arch)
	add("Go", a.GoVersion, b.GoVersion)
	add("Redis", a.RedisVersion, b.RedisVersion)
	add("GOMAXPROCS", a.GOMAXPROCS, b.GOMAXPROCS)
	return out
}
