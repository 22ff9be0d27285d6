package profiles

// The values of the keys with named values.
const (
	On  = "on"
	Off = "off"

	GroupCursor = "cursor"
	GroupCopies = "copies"
	GroupIDs    = "ids"

	CursorSeq       = "seq"
	CursorTimeAfter = "time-after"
	CursorTimeFrom  = "time-from"

	StoreForAll     = "all"
	StoreForOffline = "offline"

	RemoveOnAck  = "on-ack"
	RemoveOnPull = "on-pull"

	FsyncOff      = "off"
	FsyncEverysec = "everysec"
	FsyncAlways   = "always"

	PacingSleep   = "sleep"
	PacingPrecise = "precise"

	TransportWebSocket = "websocket"
	TransportHTTP      = "http"

	ResumeCursor    = "cursor"
	ResumeWatermark = "watermark"

	AckEach            = "each"
	AckCount           = "count"
	AckInterval        = "interval"
	AckCountOrInterval = "count-or-interval"
	AckNone            = "none"

	PullPaged       = "paged"
	PullAll         = "all"
	PullCountsFirst = "counts-first"
	PullPerFriend   = "per-friend"

	GroupsPerGroup = "per-group"
	GroupsAll      = "all-groups"
	GroupsOnDemand = "on-demand"

	OrderOldest = "oldest"
	OrderNewest = "newest"

	PullAckNextPage = "next-page"
	PullAckPage     = "page"
	PullAckEach     = "each"
	PullAckNone     = "none"

	DedupNone      = "none"
	DedupSet       = "set"
	DedupWindow    = "window"
	DedupWatermark = "watermark"

	CrashOff           = "off"
	CrashPullAndAck    = "pull-and-ack"
	CrashReceiveAndAck = "receive-and-ack"
	CrashMidSync       = "mid-sync"

	ArrivalsUniform = "uniform"
	ArrivalsPoisson = "poisson"
	ArrivalsBurst   = "burst"

	SendersRandom = "random"
	SendersFixed  = "fixed"

	FaultKillServer   = "kill-server"
	FaultKillRedis    = "kill-redis"
	FaultReset        = "reset"
	FaultCrashClients = "crash-clients"
)
