package profiles

// Profile is one fully resolved profile: defaults filled in, one variant and
// the --set flags applied, checked. The names in the tags are the keys in YAML.
type Profile struct {
	Profile    string     `json:"profile"` // version of the schema, Version
	Name       string     `json:"name"`
	About      string     `json:"about"`
	Seed       uint64     `json:"seed"` // each repeat derives its own
	Population Population `json:"population"`
	Server     Server     `json:"server"`
	Redis      Redis      `json:"redis"`
	Clients    Clients    `json:"clients"`
	Traffic    Traffic    `json:"traffic"`
	Phases     Phases     `json:"phases"`
	Pacing     string     `json:"pacing"` // PacingSleep, PacingPrecise: how the generator waits for a send's time
	Repeats    int        `json:"repeats"`
	// Variants is empty in a resolved profile: one of them has been applied.
	// Source.Variants lists them.
	Variants   []Variant `json:"variants,omitempty"`
	Faults     []Fault   `json:"faults"`
	Thresholds []string  `json:"thresholds"` // each is a valid ParseThreshold text
}

// Version is the schema this package reads: the value of the key "profile".
const Version = "ackmark/v1"

// Population says who exists.
type Population struct {
	Users   int    `json:"users"`
	Groups  Groups `json:"groups"`
	Friends int    `json:"friends"` // per user; friendship is mutual
}

// Groups says how many groups there are and how large each is. Users may be
// fewer than Count×Members: a user can be a member of several groups.
type Groups struct {
	Count   int `json:"count"`
	Members int `json:"members"`
}

// Server holds the settings of the reference server that a profile may set.
type Server struct {
	Group      string   `json:"group"`     // design of group storage: GroupCursor
	StoreFor   string   `json:"store_for"` // StoreForAll
	Remove     string   `json:"remove"`    // RemoveOnAck
	AckFlush   Duration `json:"ack_flush"` // write-behind of cursors, 0 writes at once
	AckJoin    Duration `json:"ack_join"`  // acks of one moment share Redis commands
	Retransmit Duration `json:"retransmit"`
	Retention  int      `json:"retention"` // messages per group log, 0 keeps all
	DedupFor   Duration `json:"dedup_for"` // how long a client_msg_id is remembered
}

// Redis holds the settings of a private Redis.
type Redis struct {
	Fsync string `json:"fsync"` // FsyncOff, FsyncEverysec, FsyncAlways
}

// Clients is the one class of simulated devices.
type Clients struct {
	Online    Percent `json:"online"` // share of the users that are connected
	Transport string  `json:"transport"`
	Window    int     `json:"window"` // unacked deliveries in flight per connection
	Resume    string  `json:"resume"` // ResumeCursor, ResumeWatermark
	Send      Send    `json:"send"`
	Ack       Ack     `json:"ack"`
	Pull      Pull    `json:"pull"`
	Dedup     string  `json:"dedup"`
}

// Send says how long a sender waits for its answer and how often it resends
// the same client_msg_id.
type Send struct {
	Timeout Duration `json:"timeout"`
	Retries int      `json:"retries"`
}

// Ack is the ack policy of the clients. Every counts only under AckCount and
// AckCountOrInterval, Interval only under AckInterval and AckCountOrInterval.
type Ack struct {
	Policy   string   `json:"policy"`
	Every    int      `json:"every"`
	Interval Duration `json:"interval"`
	Idle     Duration `json:"idle"` // 0 is off
}

// Pull says how a client fetches what it missed.
type Pull struct {
	Mode  string `json:"mode"`
	Page  int    `json:"page"` // messages per page
	Order string `json:"order"`
	Ack   string `json:"ack"`
}

// Traffic holds one flow per kind of traffic; nil is none of it.
type Traffic struct {
	Group  *Flow `json:"group,omitempty"`
	Direct *Flow `json:"direct,omitempty"`
}

// Flow is one stream of sends.
type Flow struct {
	Rate     Rate   `json:"rate"`     // messages per second, over all conversations of the kind
	Arrivals string `json:"arrivals"` // ArrivalsUniform, ArrivalsPoisson, ArrivalsBurst
	Burst    int    `json:"burst"`    // messages at once; only with ArrivalsBurst
	Bytes    Bytes  `json:"bytes"`    // size of a body
	Senders  string `json:"senders"`  // SendersRandom, SendersFixed
}

// Phases are the lengths of a run's phases. Drain is a limit: it ends as soon
// as nothing is pending.
type Phases struct {
	Warmup  Duration `json:"warmup"`
	Measure Duration `json:"measure"`
	Drain   Duration `json:"drain"`
}

// Variant is a named setting of a profile.
type Variant struct {
	Name   string            `json:"name"`
	Set    map[string]string `json:"set"`              // dotted key → value in canonical text
	Expect []string          `json:"expect,omitempty"` // each is a valid ParseThreshold text
}

// Fault is one deliberate failure. At counts from the start of measure.
type Fault struct {
	Kind string   `json:"kind"` // FaultKillServer
	At   Duration `json:"at"`
	Down Duration `json:"down"` // until the restart
}

// The values of the keys with named values.
const (
	GroupCursor = "cursor"
	StoreForAll = "all"
	RemoveOnAck = "on-ack"

	FsyncOff      = "off"
	FsyncEverysec = "everysec"
	FsyncAlways   = "always"

	PacingSleep   = "sleep"
	PacingPrecise = "precise"

	TransportWebSocket = "websocket"

	ResumeCursor    = "cursor"
	ResumeWatermark = "watermark"

	AckEach            = "each"
	AckCount           = "count"
	AckInterval        = "interval"
	AckCountOrInterval = "count-or-interval"

	PullPaged       = "paged"
	OrderOldest     = "oldest"
	PullAckNextPage = "next-page"

	DedupWatermark = "watermark"

	ArrivalsUniform = "uniform"
	ArrivalsPoisson = "poisson"
	ArrivalsBurst   = "burst"

	SendersRandom = "random"
	SendersFixed  = "fixed"

	FaultKillServer = "kill-server"
)
