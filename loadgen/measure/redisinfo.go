package measure

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// RedisCommand is a line of INFO commandstats. Redis counts the commands that a
// script runs as well as the EVALSHA that runs it.
type RedisCommand struct {
	Calls uint64        `json:"calls"`
	Time  time.Duration `json:"time"` // in the command, network not included
	// Rejected before they ran (wrong arguments, no memory); Failed while they ran.
	Rejected uint64 `json:"rejected"`
	Failed   uint64 `json:"failed"`
}

// RedisInfo is what INFO told at one moment. A store that doesn't give a
// section (the embedded one gives almost none) leaves its Has false, so that a
// zero can't be taken for a measurement.
type RedisInfo struct {
	Version string
	RunID   string // of this incarnation
	PID     int    // as Redis sees it, on its own machine

	HasCPU      bool
	CPUUser     time.Duration // of the server's threads
	CPUSys      time.Duration
	ChildrenCPU time.Duration // of its background children (AOF rewrite), user and system

	HasMemory      bool
	UsedMemory     uint64 // bytes allocated
	UsedMemoryPeak uint64
	RSS            uint64

	HasNet          bool
	NetIn, NetOut   uint64 // bytes
	EvictedKeys     uint64
	ExpiredKeys     uint64
	TotalCommands   uint64 // by clients; a script counts once
	MaxMemoryPolicy string

	Commands map[string]RedisCommand // nil when not given
}

// CPU is all CPU time of this incarnation.
func (i RedisInfo) CPU() time.Duration { return i.CPUUser + i.CPUSys + i.ChildrenCPU }

// ParseRedisInfo reads the text of INFO. Unknown fields are passed over, since
// every version of Redis has its own; a known field with a value that isn't a
// number is an error that names it.
func ParseRedisInfo(text string) (RedisInfo, error) {
	var p infoParser
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		key, value, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		if name, isCommand := strings.CutPrefix(key, "cmdstat_"); isCommand {
			p.command(name, value)
			continue
		}
		p.field(key, value)
	}
	return p.info, p.err
}

type infoParser struct {
	info RedisInfo
	err  error // the first one
}

func (p *infoParser) fail(key, value, want string) {
	if p.err == nil {
		p.err = fmt.Errorf("INFO field %s is %q; it should be %s", key, value, want)
	}
}

func (p *infoParser) uint(key, value string) uint64 {
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil {
		p.fail(key, value, "a whole number")
	}
	return n
}

// seconds reads decimal seconds; Redis gives microseconds after the point.
func (p *infoParser) seconds(key, value string) time.Duration {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || !(f >= 0 && f < math.MaxInt64/1e9) {
		p.fail(key, value, "seconds")
		return 0
	}
	return time.Duration(math.Round(f*1e6)) * time.Microsecond
}

func (p *infoParser) field(key, value string) {
	i := &p.info
	switch key {
	case "redis_version":
		i.Version = value
	case "run_id":
		i.RunID = value
	case "process_id":
		i.PID = int(min(p.uint(key, value), math.MaxInt32))
	case "used_cpu_user":
		i.HasCPU, i.CPUUser = true, p.seconds(key, value)
	case "used_cpu_sys":
		i.HasCPU, i.CPUSys = true, p.seconds(key, value)
	case "used_cpu_user_children", "used_cpu_sys_children":
		i.ChildrenCPU += p.seconds(key, value)
	case "used_memory":
		i.HasMemory, i.UsedMemory = true, p.uint(key, value)
	case "used_memory_peak":
		i.UsedMemoryPeak = p.uint(key, value)
	case "used_memory_rss":
		i.RSS = p.uint(key, value)
	case "total_net_input_bytes":
		i.HasNet, i.NetIn = true, p.uint(key, value)
	case "total_net_output_bytes":
		i.HasNet, i.NetOut = true, p.uint(key, value)
	case "evicted_keys":
		i.EvictedKeys = p.uint(key, value)
	case "expired_keys":
		i.ExpiredKeys = p.uint(key, value)
	case "total_commands_processed":
		i.TotalCommands = p.uint(key, value)
	case "maxmemory_policy":
		i.MaxMemoryPolicy = value
	}
}

// command reads calls=1,usec=2,usec_per_call=2.00,rejected_calls=0,failed_calls=0.
func (p *infoParser) command(name, value string) {
	if name == "" {
		p.fail("cmdstat_", value, "named after a command")
		return
	}
	var c RedisCommand
	for part := range strings.SplitSeq(value, ",") {
		k, v, _ := strings.Cut(part, "=")
		key := "cmdstat_" + name + " " + k
		switch k {
		case "calls":
			c.Calls = p.uint(key, v)
		case "usec":
			c.Time = time.Duration(min(p.uint(key, v), math.MaxInt64/1000)) * time.Microsecond
		case "rejected_calls":
			c.Rejected = p.uint(key, v)
		case "failed_calls":
			c.Failed = p.uint(key, v)
		}
	}
	if p.info.Commands == nil {
		p.info.Commands = make(map[string]RedisCommand)
	}
	p.info.Commands[name] = c
}

// ReadRedis asks one Redis for INFO. The question itself costs two commands at
// most, named info; RedisUsage leaves them out of its total.
func ReadRedis(ctx context.Context, c redis.Cmdable) (RedisInfo, error) {
	text, err := c.Info(ctx, "everything").Result()
	if err != nil && ctx.Err() == nil {
		text, err = c.Info(ctx).Result() // the embedded store knows no "everything"
	}
	if err != nil {
		return RedisInfo{}, fmt.Errorf("asking Redis for INFO: %w", err)
	}
	return ParseRedisInfo(text)
}
