package profiles

// The types a key can have. The type decides how its text is read.
const (
	TypeText     = "text"
	TypeName     = "name"     // small letters, digits and '-'
	TypeChoice   = "choice"   // one of Key.Values
	TypeInteger  = "integer"  // a whole number
	TypeDuration = "duration" // ParseDuration
	TypeRate     = "rate"     // ParseRate
	TypePercent  = "percent"  // ParsePercent
	TypeBytes    = "bytes"    // ParseBytes
	TypeChecks   = "checks"   // a list of ParseThreshold texts
	TypeSettings = "settings" // dotted keys of this table with values
	TypeList     = "list"     // a list of sections, whose keys are NAME[].KEY
	TypePlanned  = "planned"  // known to the design, refused by this version
)

// Key is one row of the schema.
type Key struct {
	Name    string // dotted path; NAME[].KEY inside a list of sections
	Type    string
	Unit    string // what the number counts, "" where the type says it or there is none
	Default string // in canonical text; "" is empty
	Min     string // smallest value, in text; "" is no bound
	Max     string // largest value
	Above   string // the value must be larger than this
	Values  []string
	Planned []string // values the design knows and this version refuses
	Help    string

	Required bool
	Off      bool // "off" is a way to write zero, and the canonical one
	Whole    bool // of the whole profile: can't differ between variants
	Workload bool // decides what is measured: part of the hash
}

// Schema is the table of all keys, in the order in which a profile is written.
func Schema() []Key {
	return []Key{
		{Name: "profile", Type: TypeChoice, Values: []string{Version}, Required: true, Whole: true,
			Help: "version of the schema"},
		{Name: "name", Type: TypeName, Required: true, Whole: true,
			Help: "what the profile is called: small letters, digits and '-'"},
		{Name: "about", Type: TypeText, Whole: true,
			Help: "which question it answers and how to read the answer"},
		{Name: "seed", Type: TypeInteger, Default: "1", Min: "0", Whole: true,
			Help: "where all randomness starts; each repeat derives its own"},

		{Name: "population.users", Type: TypeInteger, Unit: "users", Default: "500", Min: "1", Max: "10000000", Workload: true,
			Help: "how many users exist"},
		{Name: "population.groups.count", Type: TypeInteger, Unit: "groups", Default: "1", Min: "0", Max: "1000000", Workload: true,
			Help: "how many groups exist"},
		{Name: "population.groups.members", Type: TypeInteger, Unit: "users", Default: "500", Min: "2", Max: "100000", Workload: true,
			Help: "members of each group, drawn from the users; a user can be in several groups"},
		{Name: "population.friends", Type: TypeInteger, Unit: "users", Default: "0", Min: "0", Max: "10000", Workload: true,
			Help: "friends of each user, mutual; direct messages go to friends if there are any, else to anybody"},

		{Name: "server.group", Type: TypeChoice, Default: GroupCursor, Values: []string{GroupCursor}, Planned: []string{"copies", "ids", "cursor-time"}, Workload: true,
			Help: "how group messages are stored; cursor: body once, a last_ack seq per member"},
		{Name: "server.store_for", Type: TypeChoice, Default: StoreForAll, Values: []string{StoreForAll}, Planned: []string{"offline"}, Workload: true,
			Help: "for whom a group message is stored"},
		{Name: "server.remove", Type: TypeChoice, Default: RemoveOnAck, Values: []string{RemoveOnAck}, Planned: []string{"on-pull"}, Workload: true,
			Help: "when a stored message is done with"},
		{Name: "server.ack_flush", Type: TypeDuration, Default: "0s", Min: "0s", Max: "1h", Workload: true,
			Help: "write-behind of acks: cursors are written this often, 0s at once; a crash redelivers, never loses"},
		{Name: "server.ack_join", Type: TypeDuration, Default: "5ms", Min: "0s", Max: "1s", Workload: true,
			Help: "acks that arrive within this time share Redis commands"},
		{Name: "server.retransmit", Type: TypeDuration, Default: "15s", Min: "100ms", Max: "1h", Workload: true,
			Help: "a delivery that stays unacked this long is sent again"},
		{Name: "server.retention", Type: TypeInteger, Unit: "messages", Default: "0", Min: "0", Max: "1000000000", Workload: true,
			Help: "most messages a group's log keeps for members who don't ack; 0 keeps all"},
		{Name: "server.dedup_for", Type: TypeDuration, Default: "10m", Min: "1s", Max: "24h", Workload: true,
			Help: "how long the server knows a client_msg_id again"},

		{Name: "redis.fsync", Type: TypeChoice, Default: FsyncEverysec, Values: []string{FsyncOff, FsyncEverysec, FsyncAlways}, Workload: true,
			Help: "append-only file of a private Redis; off: nothing survives a restart of Redis"},

		{Name: "clients.online", Type: TypePercent, Default: "100%", Above: "0%", Workload: true,
			Help: "share of the users that are connected"},
		{Name: "clients.transport", Type: TypeChoice, Default: TransportWebSocket, Values: []string{TransportWebSocket}, Planned: []string{"http"}, Workload: true,
			Help: "how a client speaks to the server"},
		{Name: "clients.window", Type: TypeInteger, Unit: "deliveries", Default: "256", Min: "1", Max: "65536", Workload: true,
			Help: "deliveries in flight, unacked, per connection"},
		{Name: "clients.resume", Type: TypeChoice, Default: ResumeCursor, Values: []string{ResumeCursor, ResumeWatermark}, Workload: true,
			Help: "where a client goes on after a reconnect: at the server's cursor or at what it has itself"},
		{Name: "clients.send.timeout", Type: TypeDuration, Default: "5s", Min: "10ms", Max: "10m", Workload: true,
			Help: "a send without an answer is sent again after this, with the same client_msg_id"},
		{Name: "clients.send.retries", Type: TypeInteger, Unit: "times", Default: "3", Min: "0", Max: "100", Workload: true,
			Help: "how often a send is sent again"},
		{Name: "clients.ack.policy", Type: TypeChoice, Default: AckCountOrInterval,
			Values: []string{AckEach, AckCount, AckInterval, AckCountOrInterval}, Planned: []string{"next-page", "page", "none"}, Workload: true,
			Help: "when a client acks live deliveries: each one, every N, every T, or whichever comes first"},
		{Name: "clients.ack.every", Type: TypeInteger, Unit: "deliveries", Default: "10", Min: "1", Max: "65536", Workload: true,
			Help: "N, for count and count-or-interval"},
		{Name: "clients.ack.interval", Type: TypeDuration, Default: "500ms", Min: "1ms", Max: "1h", Workload: true,
			Help: "T, for interval and count-or-interval; runs from the first unacked delivery"},
		{Name: "clients.ack.idle", Type: TypeDuration, Default: "off", Min: "0s", Max: "1h", Off: true, Workload: true,
			Help: "ack what is there after this long without a delivery; breaks the closed form, so off while measuring"},
		{Name: "clients.pull.mode", Type: TypeChoice, Default: PullPaged, Values: []string{PullPaged}, Planned: []string{"friends", "counts", "all"}, Workload: true,
			Help: "how a client fetches what it missed"},
		{Name: "clients.pull.page", Type: TypeInteger, Unit: "messages", Default: "100", Min: "1", Max: "1000", Workload: true,
			Help: "messages per page"},
		{Name: "clients.pull.order", Type: TypeChoice, Default: OrderOldest, Values: []string{OrderOldest}, Planned: []string{"newest"}, Workload: true,
			Help: "which page comes first"},
		{Name: "clients.pull.ack", Type: TypeChoice, Default: PullAckNextPage, Values: []string{PullAckNextPage}, Planned: []string{"each", "page", "none"}, Workload: true,
			Help: "how pulled messages are acked; next-page: asking for the next page acks this one"},
		{Name: "clients.dedup", Type: TypeChoice, Default: DedupWatermark, Values: []string{DedupWatermark}, Planned: []string{"none", "set", "window"}, Workload: true,
			Help: "how a client knows a message again; watermark: contiguous seq and gaps"},

		{Name: "traffic.group.rate", Type: TypeRate, Unit: "messages", Default: "20/s", Above: "0/s", Max: "1000000/s", Workload: true,
			Help: "sends to groups, over all groups"},
		{Name: "traffic.group.arrivals", Type: TypeChoice, Default: ArrivalsPoisson, Values: arrivals(), Workload: true,
			Help: "spacing of the sends; uniform lets the groups take turns, the others pick one at random"},
		{Name: "traffic.group.burst", Type: TypeInteger, Unit: "messages", Default: "10", Min: "1", Max: "100000", Workload: true,
			Help: "sends at once, every burst/rate; for burst arrivals"},
		{Name: "traffic.group.bytes", Type: TypeBytes, Default: "200", Min: "1", Max: "64KiB", Workload: true,
			Help: "size of a message body"},
		{Name: "traffic.group.senders", Type: TypeChoice, Default: SendersRandom, Values: []string{SendersRandom, SendersFixed}, Workload: true,
			Help: "who sends: any online member, or always the first one"},
		{Name: "traffic.direct.rate", Type: TypeRate, Unit: "messages", Default: "20/s", Above: "0/s", Max: "1000000/s", Workload: true,
			Help: "sends to single users, over all users"},
		{Name: "traffic.direct.arrivals", Type: TypeChoice, Default: ArrivalsPoisson, Values: arrivals(), Workload: true,
			Help: "spacing of the sends"},
		{Name: "traffic.direct.burst", Type: TypeInteger, Unit: "messages", Default: "10", Min: "1", Max: "100000", Workload: true,
			Help: "sends at once, every burst/rate; for burst arrivals"},
		{Name: "traffic.direct.bytes", Type: TypeBytes, Default: "200", Min: "1", Max: "64KiB", Workload: true,
			Help: "size of a message body"},
		{Name: "traffic.direct.senders", Type: TypeChoice, Default: SendersRandom, Values: []string{SendersRandom, SendersFixed}, Workload: true,
			Help: "who sends: any online user, or always the first one"},
		{Name: "traffic.login", Type: TypePlanned},
		{Name: "traffic.open", Type: TypePlanned},

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
		{Name: "variants[].expect", Type: TypeChecks, Help: `what this variant is expected to show: ["lost > 0"]`},

		{Name: "faults", Type: TypeList, Workload: true, Help: "what is broken on purpose, in order of time"},
		{Name: "faults[].kind", Type: TypeChoice, Values: []string{FaultKillServer},
			Planned: []string{"kill-client", "kill-redis", "cut-network"}, Required: true,
			Help: "kill-server: kill -9, then a restart on the same port"},
		{Name: "faults[].at", Type: TypeDuration, Min: "0s", Max: "24h", Required: true, Help: "when, from the start of measure"},
		{Name: "faults[].down", Type: TypeDuration, Default: "1s", Min: "0s", Max: "1h", Help: "how long until the restart"},

		{Name: "thresholds", Type: TypeChecks, Help: `what must hold for exit code 0: ["lost == 0", "live.p99 < 250ms"]`},
		{Name: "placement", Type: TypePlanned},
	}
}

func arrivals() []string { return []string{ArrivalsUniform, ArrivalsPoisson, ArrivalsBurst} }
