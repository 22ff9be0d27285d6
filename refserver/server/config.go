package server

import (
	"time"

	"ackmark/refserver/delivery"
)

// DevSecret is the token and admin secret under --insecure-dev: known to
// everybody, so it is taken on loopback addresses only.
const DevSecret = "ackmark-dev"

// minSecret is the shortest secret that is taken, in bytes.
const minSecret = 16

// Config is everything that can be set. The zero value is not useful: start
// from DefaultConfig. Sizes are in bytes. `refserver serve --help` explains
// each setting in the words of settings.go.
type Config struct {
	Listen    string // HOST:PORT
	Redis     string // redis://, rediss:// or unix:// URL
	Namespace string // stands before every key

	TokenSecret string
	AdminSecret string // empty: no admin API
	InsecureDev bool   // both secrets are DevSecret

	Group       delivery.Group    // what is stored of a group's message
	Cursor      delivery.Cursor   // what a member's cursor is, with Group cursor
	StoreFor    delivery.StoreFor // for whom
	Remove      delivery.Remove   // when it goes
	SenderIndex bool              // inboxes can be pulled and counted by sender
	DedupOff    bool              // every attempt of a send is a message of its own

	AckJoin     time.Duration
	AckFlush    time.Duration
	Retransmit  time.Duration // 0: never
	Window      int           // deliveries
	Queue       int           // frames
	QueueBytes  int
	Page        int // messages
	MaxPage     int // messages
	MaxResponse int // bytes
	MaxFriends  int // names
	Retention   int // messages, 0: no limit
	DedupFor    time.Duration
	FriendsOnly bool

	MaxBody            int
	MaxFrame           int
	MaxAdminBody       int
	MaxAdminNames      int
	MaxConnections     int
	MaxHTTPConnections int
	MaxRequests        int
	MaxInFlight        int // sends

	HelloTimeout   time.Duration
	IdleTimeout    time.Duration
	ReadTimeout    time.Duration
	WriteTimeout   time.Duration
	RequestTimeout time.Duration
	DrainTimeout   time.Duration

	Pprof string // HOST:PORT, empty: off
}

// DefaultConfig returns the defaults of every setting.
func DefaultConfig() Config {
	return Config{
		Listen:             "127.0.0.1:8490",
		Redis:              "redis://127.0.0.1:6379",
		Namespace:          "am",
		Group:              delivery.GroupCursor,
		Cursor:             delivery.CursorSeq,
		StoreFor:           delivery.StoreForAll,
		Remove:             delivery.RemoveOnAck,
		AckJoin:            5 * time.Millisecond,
		Retransmit:         15 * time.Second,
		Window:             256,
		Queue:              1024,
		QueueBytes:         256 << 10,
		Page:               100,
		MaxPage:            1000,
		MaxResponse:        64 << 20,
		MaxFriends:         10_000,
		DedupFor:           10 * time.Minute,
		MaxBody:            64 << 10,
		MaxFrame:           256 << 10,
		MaxAdminBody:       4 << 20,
		MaxAdminNames:      10_000,
		MaxConnections:     100_000,
		MaxHTTPConnections: 16 << 10,
		MaxRequests:        4 << 10,
		MaxInFlight:        256,
		HelloTimeout:       10 * time.Second,
		IdleTimeout:        60 * time.Second,
		ReadTimeout:        10 * time.Second,
		WriteTimeout:       10 * time.Second,
		RequestTimeout:     10 * time.Second,
		DrainTimeout:       10 * time.Second,
	}
}

// withSecrets fills in what InsecureDev stands for.
func (c Config) withSecrets() Config {
	if c.InsecureDev {
		c.TokenSecret, c.AdminSecret = DevSecret, DevSecret
	}
	return c
}
