package results

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Collect reads the facts of this machine from /proc and /etc/os-release. A
// fact that can't be read is "unknown" or 0 rather than an error: it then
// counts as a difference between machines, not as a reason not to measure.
func Collect(redisVersion string) Facts {
	cpuinfo, _ := os.ReadFile("/proc/cpuinfo")
	meminfo, _ := os.ReadFile("/proc/meminfo")
	release, _ := os.ReadFile("/proc/sys/kernel/osrelease") // what uname -r prints
	osRelease, _ := os.ReadFile("/etc/os-release")

	model, cores := parseCPUInfo(cpuinfo)
	if cores == 0 {
		cores = runtime.NumCPU()
	}
	return Facts{
		CPUModel: orUnknown(model), Cores: cores, RAMBytes: parseMemTotal(meminfo),
		Kernel: orUnknown(string(bytes.TrimSpace(release))), OS: orUnknown(parseOSName(osRelease)),
		Arch: runtime.GOARCH, GoVersion: runtime.Version(), RedisVersion: redisVersion,
		GOMAXPROCS: runtime.GOMAXPROCS(0),
	}
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// parseCPUInfo returns the model and the number of processors. Arm kernels give
// no model name; implementer and part identify the core there.
func parseCPUInfo(b []byte) (model string, cores int) {
	var implementer, part string
	for line := range strings.Lines(string(b)) {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		value = strings.Join(strings.Fields(value), " ")
		switch strings.TrimSpace(key) {
		case "processor":
			cores++
		case "model name":
			model = value
		case "CPU implementer":
			implementer = value
		case "CPU part":
			part = value
		}
	}
	if model == "" && part != "" {
		model = "implementer " + implementer + " part " + part
	}
	return model, cores
}

// parseMemTotal returns bytes; the file's "kB" are KiB.
func parseMemTotal(b []byte) uint64 {
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			kib, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kib << 10
		}
	}
	return 0
}

func parseOSName(b []byte) string {
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok {
			return strings.Trim(rest, `"'`)
		}
	}
	return ""
}
