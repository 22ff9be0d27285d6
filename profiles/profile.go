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
	Backlog    Backlog    `json:"backlog"`
	Traffic    Traffic    `json:"traffic"`
	Phases     Phases     `json:"phases"`
	Pacing     string     `json:"pacing"` // PacingSleep, PacingPrecise: how the generator waits for a send's time
	Repeats    int        `json:"repeats"`
	// Variants is empty in a resolved profile: one of them has been applied.
	// Source.Variants lists them.
	Variants   []Variant `json:"variants,omitempty"`
	Faults     []Fault   `json:"faults"`
	Thresholds []string  `json:"thresholds"` // each is a valid ParseThreshold text

	// What a sweep does with the profile. Vary is empty in a resolved profile,
	// as Variants is: Source.Vary lists the axes. None of these is part of the
	// hash: they decide which points are measured and how they are read, not
	// what a point is.
	Vary      map[string][]string `json:"vary,omitempty"`
	Choose    string              `json:"choose,omitempty"`     // a metric or an alias of one
	SubjectTo []string            `json:"subject_to,omitempty"` // each is a valid ParseThreshold text
	Pareto    []string            `json:"pareto,omitempty"`     // cost and risk
}

// Version is the schema this package reads: the value of the key "profile".
const Version = "ackmark/v1"

// Population says who exists.
type Population struct {
	Users   int    `json:"users"`
	Groups  Groups `json:"groups"`
	Friends int    `json:"friends"` // per user; friendship is mutual unless FriendsOf is set
	// FriendsOf is how many users have a friend list. 0: everybody, and
	// friendship is mutual. N: the first N users, whose friends are the Friends
	// users after each; nobody else has a list.
	FriendsOf int `json:"friends_of"`
}

// Groups says how many groups there are and how large each is. Users may be
// fewer than Count×Members: a user can be a member of several groups.
type Groups struct {
	Count   int `json:"count"`
	Members int `json:"members"`
}

// Server holds the settings of the reference server that a profile may set.
type Server struct {
	Group       string   `json:"group"`        // design of group storage: GroupCursor, GroupCopies, GroupIDs
	Cursor      string   `json:"cursor"`       // what a cursor holds: CursorSeq, CursorTimeAfter, CursorTimeFrom
	StoreFor    string   `json:"store_for"`    // StoreForAll, StoreForOffline
	Remove      string   `json:"remove"`       // RemoveOnAck, RemoveOnPull
	SenderIndex string   `json:"sender_index"` // On, Off: index (receiver, sender) of inboxes
	Dedup       string   `json:"dedup"`        // On, Off: idempotent sends
	AckFlush    Duration `json:"ack_flush"`    // write-behind of cursors, 0 writes at once
	AckJoin     Duration `json:"ack_join"`     // acks of one moment share Redis commands
	Retransmit  Duration `json:"retransmit"`
	Retention   int      `json:"retention"` // messages per group log, 0 keeps all
	DedupFor    Duration `json:"dedup_for"` // how long a client_msg_id is remembered; only with Dedup On
}

// Redis holds the settings of a private Redis.
type Redis struct {
	Fsync string `json:"fsync"` // FsyncOff, FsyncEverysec, FsyncAlways
}

// Clients is the one class of simulated devices.
type Clients struct {
	Online      Percent  `json:"online"`    // share of the users that are connected from the start
	Transport   string   `json:"transport"` // TransportWebSocket, TransportHTTP
	Poll        Duration `json:"poll"`      // how often an online client asks; only with TransportHTTP
	Window      int      `json:"window"`    // unacked deliveries in flight per connection
	Resume      string   `json:"resume"`    // ResumeCursor, ResumeWatermark
	Send        Send     `json:"send"`
	Ack         Ack      `json:"ack"`
	Pull        Pull     `json:"pull"`
	Dedup       string   `json:"dedup"`        // DedupNone, DedupSet, DedupWindow, DedupWatermark
	DedupWindow int      `json:"dedup_window"` // messages remembered per conversation; only with DedupWindow
	Session     Duration `json:"session"`      // how long who logged in stays online; 0 stays
	Away        Duration `json:"away"`         // then comes back after this; only with Session
	Crash       Crash    `json:"crash"`
}

// Crash says where clients die on purpose. A crashed client loses its memory
// of the session and keeps what it had persisted.
type Crash struct {
	Between     string   `json:"between"`     // CrashOff, CrashPullAndAck, CrashReceiveAndAck, CrashMidSync
	Probability Percent  `json:"probability"` // chance that a login that counts crashes
	Login       int      `json:"login"`       // the login of a user that counts, from 1; 0: each
	Relogin     Duration `json:"relogin"`     // from the crash to the next login
}

// Send says how long a sender waits for its answer and how often it resends
// the same client_msg_id.
type Send struct {
	Timeout Duration `json:"timeout"`
	Retries int      `json:"retries"`
}

// Ack is the ack policy of the clients. Every counts only under AckCount and
// AckCountOrInterval, Interval only under AckInterval and AckCountOrInterval.
// AckNone acks nothing, for rungs that remove on pull.
type Ack struct {
	Policy   string   `json:"policy"`
	Every    int      `json:"every"`
	Interval Duration `json:"interval"`
	Idle     Duration `json:"idle"` // 0 is off
}

// Pull says how a client fetches what it missed.
type Pull struct {
	Mode   string  `json:"mode"`   // of an inbox: PullPaged, PullAll, PullCountsFirst, PullPerFriend
	Groups string  `json:"groups"` // of groups: GroupsPerGroup, GroupsAll, GroupsOnDemand
	Open   Percent `json:"open"`   // share of the friends or groups that is opened; with PullCountsFirst and GroupsOnDemand
	Page   int     `json:"page"`   // messages per page
	Order  string  `json:"order"`  // OrderOldest, OrderNewest
	Ack    string  `json:"ack"`    // PullAckNextPage, PullAckPage, PullAckEach, PullAckNone
}

// Backlog is what waits for users before anybody logs in; nil is none of the
// kind. It is stored before warm-up.
type Backlog struct {
	Direct *DirectBacklog `json:"direct,omitempty"`
	Group  *GroupBacklog  `json:"group,omitempty"`
}

// DirectBacklog waits in the inbox of each offline user that has friends.
type DirectBacklog struct {
	Share    Percent `json:"share"`    // of a user's friends that have sent
	Messages int     `json:"messages"` // from each of them
	Bytes    Bytes   `json:"bytes"`    // size of a body
}

// GroupBacklog waits in each group.
type GroupBacklog struct {
	Messages int   `json:"messages"` // per group
	Bytes    Bytes `json:"bytes"`    // size of a body
}

// Traffic holds one flow per kind of traffic; nil is none of it.
type Traffic struct {
	Group  *Flow  `json:"group,omitempty"`
	Direct *Flow  `json:"direct,omitempty"`
	Login  *Login `json:"login,omitempty"`
}

// Login is the stream of logins of users that were offline, each once, from
// the start of measure on.
type Login struct {
	Rate     Rate   `json:"rate"`     // logins per second
	Arrivals string `json:"arrivals"` // ArrivalsUniform, ArrivalsPoisson, ArrivalsBurst
	Burst    int    `json:"burst"`    // logins at once; only with ArrivalsBurst
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
	Name    string            `json:"name"`
	Set     map[string]string `json:"set"`                // dotted key → value in canonical text
	Expect  []string          `json:"expect,omitempty"`   // each is a valid ParseThreshold text
	CrashOf string            `json:"crash_of,omitempty"` // the variant that this one is, with crashes
}

// MaxOnline bounds the users that are connected at the same time: those that
// are there from the start and all that may log in.
func (p *Profile) MaxOnline() int {
	online := p.Clients.Online.Of(p.Population.Users)
	if p.Traffic.Login == nil {
		return online
	}
	arriving := p.Population.Users - online
	if p.Population.FriendsOf > 0 { // the others are there to be friends
		arriving = min(arriving, p.Population.FriendsOf+p.Population.Groups.Count*p.Population.Groups.Members)
	}
	return online + arriving
}
