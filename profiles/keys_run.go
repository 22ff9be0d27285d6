package profiles

// runKeys say how long and how often is measured, what is broken on purpose
// and what must hold.
func runKeys() []Key {
	return []Key{
		{Name: "phases.warmup", Type: TypeDuration, Default: "2s", Min: "0s", Max: "24h", Workload: true,
			Help: "load before anything is measured"},
		{Name: "phases.measure", Type: TypeDuration, Default: "15s", Min: "1s", Max: "24h", Workload: true,
			Help: "load that is measured"},
		{Name: "phases.drain", Type: TypeDuration, Default: "5s", Min: "1s", Max: "1h", Workload: true,
			Help: "longest wait for what is pending; ends as soon as nothing is"},
		{Name: "pacing", Type: TypeChoice, Default: PacingPrecise, Values: []string{PacingSleep, PacingPrecise}, Workload: true,
			Help: "how the generator waits for a send's time; precise: the last 2 ms in nanosleep(2), a few per cent of a core; sleep: the runtime's timer, about 1 ms late"},
		{Name: "repeats", Type: TypeInteger, Unit: "runs", Default: "1", Min: "1", Max: "1000", Whole: true,
			Help: "how often each variant is measured; variants take turns"},

		{Name: "variants", Type: TypeList, Whole: true, Help: "named settings, each measured; none measures the profile as it stands"},
		{Name: "variants[].name", Type: TypeText, Required: true, Help: "what the variant is called"},
		{Name: "variants[].set", Type: TypeSettings, Help: "keys that differ, in full: clients.ack.policy: each"},
		{Name: "variants[].crash_of", Type: TypeText, Help: "the variant that this one is, with crashes: the ladder shows both in one row"},
		{Name: "variants[].expect", Type: TypeChecks, Help: `what this variant is expected to show: ["lost > 0"]`},

		{Name: "faults", Type: TypeList, Workload: true, Help: "what is broken on purpose, in order of time"},
		{Name: "faults[].kind", Type: TypeChoice, Values: []string{FaultKillServer, FaultKillRedis, FaultReset, FaultCrashClients}, Required: true,
			Help: "kill-server and kill-redis: kill -9, then a restart where it was; reset: connections are reset; crash-clients: connected clients lose all that they hadn't persisted, and log in again"},
		{Name: "faults[].at", Type: TypeDuration, Min: "0s", Max: "24h", Required: true, Help: "when, from the start of measure"},
		{Name: "faults[].down", Type: TypeDuration, Default: "1s", Min: "0s", Max: "1h", Help: "how long until the restart, or until crashed clients log in again; a reset has none"},
		{Name: "faults[].every", Type: TypeDuration, Default: "off", Min: "0s", Max: "24h", Off: true, Help: "again after this, and so on to the end of measure; off: once"},
		{Name: "faults[].cut", Type: TypeInteger, Unit: "messages", Default: "0", Min: "0", Max: "1000000",
			Help: "messages cut off the tail of the append-only file before kill-redis restarts it"},
		{Name: "faults[].share", Type: TypePercent, Default: "100%", Above: "0%", Help: "share of the connections that a reset hits, or of the connected clients that crash"},

		{Name: "thresholds", Type: TypeChecks, Help: `what must hold for exit code 0: ["lost == 0", "live.p99 < 250ms"]`},

		{Name: "vary", Type: TypeAxes, Whole: true, Help: "what loadgen sweep varies, over all combinations: {clients.ack.every: [1, 10]}"},
		{Name: "choose", Type: TypeMetric, Whole: true, Help: "what the recommended point of a sweep has least of (most, where more is better): cpu"},
		{Name: "subject_to", Type: TypeChecks, Whole: true, Help: `what it must meet: ["live.p99 < 200ms"]`},
		{Name: "pareto", Type: TypeMetrics, Whole: true, Help: "cost and risk, between which a sweep finds the Pareto front: [cpu, redelivered_per_crash]"},
		{Name: "placement", Type: TypePlanned},
	}
}
