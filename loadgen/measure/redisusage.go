package measure

import "time"

// RedisUsage is what a Redis did between two readings of INFO.
type RedisUsage struct {
	// Restarted: the second reading comes from another incarnation. Its
	// counters are added whole; what the first one did after the first reading
	// isn't in them, so read INFO before killing it and add the two usages.
	Restarted bool

	HasCPU bool
	CPU    time.Duration // user, system and background children

	HasMemory bool
	// Memory is the change of allocated bytes; across a restart it's still
	// after − before, since memory is a state and not a count.
	Memory  int64
	RSS     uint64 // at the second reading, bytes
	HasNet  bool
	NetIn   uint64
	NetOut  uint64
	Evicted uint64

	// Commands by name, those that a script ran included; nil when not given.
	// Commands that didn't run are left out.
	Commands map[string]RedisCommand
}

// Calls is the number of commands between the readings, INFO itself left out.
// A script counts as one plus the commands it ran.
func (u RedisUsage) Calls() uint64 {
	var n uint64
	for name, c := range u.Commands {
		if name != "info" {
			n += c.Calls
		}
	}
	return n
}

// Add joins the usage of a later interval to an earlier one.
func (u RedisUsage) Add(v RedisUsage) RedisUsage {
	u.Restarted = u.Restarted || v.Restarted
	u.HasCPU, u.HasMemory, u.HasNet = u.HasCPU && v.HasCPU, u.HasMemory && v.HasMemory, u.HasNet && v.HasNet
	u.CPU += v.CPU
	u.Memory += v.Memory
	u.RSS = v.RSS
	u.NetIn += v.NetIn
	u.NetOut += v.NetOut
	u.Evicted += v.Evicted
	if u.Commands != nil || v.Commands != nil {
		sum := make(map[string]RedisCommand, len(u.Commands))
		for name, c := range u.Commands {
			sum[name] = c
		}
		for name, c := range v.Commands {
			sum[name] = sum[name].add(c)
		}
		u.Commands = sum
	}
	return u
}

func (c RedisCommand) add(d RedisCommand) RedisCommand {
	return RedisCommand{Calls: c.Calls + d.Calls, Time: c.Time + d.Time, Rejected: c.Rejected + d.Rejected, Failed: c.Failed + d.Failed}
}

// DiffRedis subtracts two readings. Another run id, or a counter that went
// back (CONFIG RESETSTAT, or a store without run ids), means that the second
// reading counts from zero.
func DiffRedis(before, after RedisInfo) RedisUsage {
	restarted := before.RunID != after.RunID
	u := RedisUsage{
		Restarted: restarted,
		HasCPU:    before.HasCPU && after.HasCPU,
		HasMemory: before.HasMemory && after.HasMemory,
		HasNet:    before.HasNet && after.HasNet,
		RSS:       after.RSS,
		NetIn:     since(restarted, before.NetIn, after.NetIn),
		NetOut:    since(restarted, before.NetOut, after.NetOut),
		Evicted:   since(restarted, before.EvictedKeys, after.EvictedKeys),
	}
	if u.HasCPU {
		u.CPU = since(restarted, before.CPU(), after.CPU())
	}
	if u.HasMemory {
		u.Memory = int64(after.UsedMemory) - int64(before.UsedMemory)
	}
	if after.Commands != nil {
		u.Commands = make(map[string]RedisCommand)
		for name, a := range after.Commands {
			b := before.Commands[name]
			// A command's four figures go back together or not at all.
			reset := restarted || a.Calls < b.Calls
			c := RedisCommand{
				Calls:    since(reset, b.Calls, a.Calls),
				Time:     since(reset, b.Time, a.Time),
				Rejected: since(reset, b.Rejected, a.Rejected),
				Failed:   since(reset, b.Failed, a.Failed),
			}
			if c != (RedisCommand{}) {
				u.Commands[name] = c
			}
		}
	}
	return u
}

// since is after − before, or after when the counter began anew.
func since[T uint64 | float64 | time.Duration](anew bool, before, after T) T {
	if anew || after < before {
		return after
	}
	return after - before
}
