package measure

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

func redis7(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile("testdata/info-redis-7.0.15.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The fixture: three XADD, and one EVAL that ran a SET and a GET.
func TestParseInfoOfRedis7(t *testing.T) {
	got, err := ParseRedisInfo(strings.ReplaceAll(redis7(t), "\n", "\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	wantCommands := map[string]RedisCommand{
		"eval": {Calls: 1, Time: 75 * time.Microsecond}, "set": {Calls: 1, Time: 10 * time.Microsecond},
		"xadd": {Calls: 3, Time: 48 * time.Microsecond}, "get": {Calls: 1, Time: 2 * time.Microsecond},
	}
	if !reflect.DeepEqual(got.Commands, wantCommands) {
		t.Errorf("commands %v; want %v", got.Commands, wantCommands)
	}
	if got.Version != "7.0.15" || len(got.RunID) != 40 || got.MaxMemoryPolicy != "noeviction" || got.PID == 0 {
		t.Errorf("version %q, run id %q, policy %q, pid %d", got.Version, got.RunID, got.MaxMemoryPolicy, got.PID)
	}
	if !got.HasCPU || got.CPU() != 11614*time.Microsecond { // 0.003871 + 0.007743 s
		t.Errorf("CPU %v, %v; want 11.614 ms", got.HasCPU, got.CPU())
	}
	if !got.HasMemory || got.UsedMemory != 1019888 || got.RSS != 12271616 || !got.HasNet || got.NetIn != 243 || got.NetOut != 34 {
		t.Errorf("memory %d, RSS %d, net %d in %d out", got.UsedMemory, got.RSS, got.NetIn, got.NetOut)
	}
}

func TestParseInfoErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"used_cpu_sys:x", "used_cpu_sys"}, {"used_cpu_user:-1", "seconds"}, {"used_cpu_user:NaN", "seconds"}, {"used_cpu_user:1e300", "seconds"},
		{"used_memory:1.5", "whole number"}, {"cmdstat_get:calls=-1,usec=2", "cmdstat_get calls"}, {"cmdstat_:calls=1", "named after"},
	} {
		if _, err := ParseRedisInfo("redis_version:7\n" + tt.text + "\n"); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v; want %q", tt.text, err, tt.want)
		}
	}
	if got, err := ParseRedisInfo("# Clients\r\nconnected_clients:1\r\n"); err != nil || got.HasCPU || got.HasMemory || got.Commands != nil {
		t.Errorf("sections that aren't given: %+v, %v; want nothing claimed", got, err)
	}
}

func TestDiffRedis(t *testing.T) {
	before := RedisInfo{RunID: "a", HasCPU: true, CPUUser: time.Second, CPUSys: time.Second, HasMemory: true, UsedMemory: 1000, HasNet: true, NetIn: 10, NetOut: 20,
		Commands: map[string]RedisCommand{"xadd": {Calls: 5, Time: 50}, "zadd": {Calls: 9}, "info": {Calls: 1}}}
	after := RedisInfo{RunID: "a", HasCPU: true, CPUUser: 2 * time.Second, CPUSys: 1500 * ms, HasMemory: true, UsedMemory: 400, RSS: 7, HasNet: true, NetIn: 110, NetOut: 20,
		Commands: map[string]RedisCommand{"xadd": {Calls: 25, Time: 90, Failed: 1}, "zadd": {Calls: 9}, "info": {Calls: 2}, "get": {Calls: 3}}}
	got := DiffRedis(before, after)
	want := RedisUsage{HasCPU: true, CPU: 1500 * ms, HasMemory: true, Memory: -600, RSS: 7, HasNet: true, NetIn: 100,
		Commands: map[string]RedisCommand{"xadd": {Calls: 20, Time: 40, Failed: 1}, "info": {Calls: 1}, "get": {Calls: 3}}}
	if !reflect.DeepEqual(got, want) || got.Calls() != 23 {
		t.Errorf("got %+v (%d calls); want %+v (23)", got, got.Calls(), want)
	}

	// Another incarnation whose counters have overtaken the old ones.
	after.RunID = "b"
	anew := DiffRedis(before, after)
	if !anew.Restarted || anew.CPU != 3500*ms || anew.Commands["xadd"].Calls != 25 || anew.Commands["zadd"].Calls != 9 || anew.Memory != -600 {
		t.Errorf("restarted: %+v; want the second reading's counters whole", anew)
	}
	// CONFIG RESETSTAT: the same incarnation, one counter went back.
	reset := RedisInfo{RunID: "a", Commands: map[string]RedisCommand{"xadd": {Calls: 2, Time: 60}}}
	if c := DiffRedis(before, reset).Commands["xadd"]; c != (RedisCommand{Calls: 2, Time: 60}) {
		t.Errorf("reset: %+v; want its value since the reset", c)
	}
	sum := got.Add(anew)
	if !sum.Restarted || sum.CPU != 5*time.Second || sum.Commands["xadd"].Calls != 45 || got.Commands["xadd"].Calls != 20 {
		t.Errorf("sum %+v; want 45 XADD, and the first usage unchanged", sum)
	}
	if DiffRedis(RedisInfo{}, RedisInfo{}).Commands != nil {
		t.Error("commands that nobody counted are 0 instead of unknown")
	}
}

func TestReadRedisEmbedded(t *testing.T) {
	m := miniredis.RunT(t)
	c := redis.NewClient(&redis.Options{Addr: m.Addr()})
	defer c.Close()
	got, err := ReadRedis(t.Context(), c)
	if err != nil || got.HasCPU || got.HasMemory || got.Commands != nil {
		t.Errorf("%+v, %v; the embedded store gives none of this", got, err)
	}
	m.Close()
	if _, err := ReadRedis(t.Context(), c); err == nil || !strings.Contains(err.Error(), "asking Redis for INFO") {
		t.Errorf("a Redis that is gone: %v", err)
	}
}

func FuzzParseRedisInfo(f *testing.F) {
	f.Add(redis7(f))
	f.Add("cmdstat_get:calls=1,usec=99999999999999999999,=,\nused_cpu_sys:1e18\nprocess_id:99999999999\n")
	f.Fuzz(func(t *testing.T, text string) {
		i, err := ParseRedisInfo(text)
		if err != nil {
			return
		}
		if i.CPUUser < 0 || i.CPUSys < 0 || i.PID < 0 {
			t.Errorf("negative figures: %+v", i)
		}
		u := DiffRedis(i, i)
		if u.CPU != 0 && i.CPU() >= 0 || u.Calls() != 0 || u.Memory != 0 || u.Restarted {
			t.Errorf("nothing happened between a reading and itself, but %+v", u)
		}
	})
}
