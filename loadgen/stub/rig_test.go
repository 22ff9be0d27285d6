package stub

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"ackmark/loadgen/client"
	"ackmark/loadgen/client/ackpolicy"
	"ackmark/loadgen/ledger"
	"ackmark/loadgen/measure"
)

const tokenSecret, adminSecret = "token secret of the tests", "admin secret of the tests"

// load is what a rig sends.
type load struct {
	users, groups, members int // group g has users g, g+1, … (modulo users)
	messages               int // over all groups, in turn; senders in turn
	every                  time.Duration
	body                   int // bytes; 0 = a few
	deaf                   int // the last so many users read nothing until all is sent
}

// rig drives a stub with devices, a ledger and a histogram.
type rig struct {
	client.Ignore
	t       *testing.T
	stub    *Server
	load    load
	ledger  *ledger.Ledger
	devices []*client.Device
	began   time.Time
	hear    chan struct{} // closed when the deaf begin to read

	sent     [][]atomic.Int64 // by group and ordinal
	arrivals atomic.Int64
	accepted atomic.Int64
	expected int

	mu       sync.Mutex // guards all below
	latency  *measure.Histogram
	exact    []time.Duration
	trouble  []string
	tookSend []time.Duration
}

func (r *rig) now() time.Duration { return time.Since(r.began) }

// sender is a member, another one each time a group has its turn.
func (l load) sender(group, ordinal int) int { return (group + ordinal%l.members) % l.users }

func (l load) ordinals(group int) int { return (l.messages + l.groups - 1 - group) / l.groups }

// run starts a stub, sends the load and waits until it is through.
func run(t *testing.T, cfg Config, l load) *rig {
	t.Helper()
	cfg.TokenSecret, cfg.AdminSecret = tokenSecret, adminSecret
	s, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, stub: s, load: l, began: time.Now(), hear: make(chan struct{}), latency: measure.NewHistogram()}
	defer r.end()
	r.seed()
	r.connect()
	r.send()
	close(r.hear)
	r.drain()
	for _, d := range r.devices {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		if err := d.Close(ctx); err != nil {
			t.Error(err)
		}
		cancel()
	}
	return r
}

func (r *rig) end() {
	for _, d := range r.devices {
		d.Crash()
	}
	if err := r.stub.Close(); err != nil {
		r.t.Error(err)
	}
	for _, line := range r.trouble {
		r.t.Log(line)
	}
}

func (r *rig) seed() {
	r.t.Helper()
	var users []string
	for u := range r.load.users {
		users = append(users, userName(u))
	}
	r.post("users", map[string]any{"users": users})
	type group struct {
		ID      string   `json:"id"`
		Members []string `json:"members"`
	}
	var groups []group
	books := ledger.Config{}
	for g := range r.load.groups {
		one := group{ID: "g" + strconv.Itoa(g)}
		var room ledger.Conversation
		room.Name = "g:" + one.ID
		for i := range r.load.members {
			u := (g + i) % r.load.users
			one.Members = append(one.Members, userName(u))
			room.Recipients = append(room.Recipients, u)
		}
		for k := range r.load.ordinals(g) {
			room.Senders = append(room.Senders, r.load.sender(g, k))
		}
		groups = append(groups, one)
		books.Conversations = append(books.Conversations, room)
		r.sent = append(r.sent, make([]atomic.Int64, len(room.Senders)))
		r.expected += len(room.Senders) * (r.load.members - 1)
	}
	r.post("groups", map[string]any{"groups": groups})
	var err error
	if r.ledger, err = ledger.New(books); err != nil {
		r.t.Fatal(err)
	}
}

func userName(u int) string { return "user" + strconv.Itoa(u) }

func (r *rig) post(what string, body any) {
	r.t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		r.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.stub.URL()+"/v1/admin/"+what, bytes.NewReader(b))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+adminSecret)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	res.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if res.StatusCode != http.StatusOK {
		r.t.Fatalf("seeding %s: %s", what, res.Status)
	}
}

func (r *rig) connect() {
	r.t.Helper()
	fleet, err := client.NewFleet(client.Config{
		Driver: &client.WebSocket{URL: "ws" + strings.TrimPrefix(r.stub.URL(), "http") + "/v1/connect", Clock: r.now, Dial: r.dial},
		Clock:  r.now, Observer: r, Ack: ackpolicy.Policy{Kind: ackpolicy.CountOrInterval, Every: 10, Interval: 50 * time.Millisecond},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	for u := range r.load.users {
		token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{
			Subject: userName(u), ExpiresAt: jwt.NewNumericDate(time.Now().Add(time.Hour)),
		}).SignedString([]byte(tokenSecret))
		if err != nil {
			r.t.Fatal(err)
		}
		d := fleet.Device(client.Identity{Index: u, User: userName(u), Token: token})
		r.devices = append(r.devices, d)
		if err := d.Start(r.t.Context()); err != nil {
			r.t.Fatal(err)
		}
	}
}

// dial makes the connections of the deaf.
func (r *rig) dial(ctx context.Context, id client.Identity, addr string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil || id.Index < r.load.users-r.load.deaf {
		return c, err
	}
	return &deaf{Conn: c, hear: r.hear}, nil
}

// deaf stops reading after what a welcome takes.
type deaf struct {
	net.Conn
	hear  chan struct{}
	reads int
}

func (d *deaf) Read(p []byte) (int, error) {
	if d.reads++; d.reads > 2 { // the handshake, the welcome
		<-d.hear
	}
	return d.Conn.Read(p)
}

func (r *rig) send() {
	wait := time.NewTimer(0)
	defer wait.Stop()
	<-wait.C
	from := r.now()
	body := bytes.Repeat([]byte("x"), max(r.load.body, 12))
	for i := range r.load.messages {
		if d := from + time.Duration(i)*r.load.every - r.now(); d > 0 {
			wait.Reset(d)
			<-wait.C
		}
		g, k := i%r.load.groups, i/r.load.groups
		r.ledger.OnSend(g, k)
		r.sent[g][k].Store(int64(r.now()))
		err := r.devices[r.load.sender(g, k)].Send(client.Message{
			To: fmt.Sprintf("g:g%d", g), ClientMsgID: fmt.Sprintf("t.%d.%d", g, k), Body: body,
			Intended: r.now(), Tag: uint64(g)<<32 | uint64(k),
		})
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

// drain waits until everything that the stub will ever deliver has arrived.
func (r *rig) drain() {
	r.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	for {
		truth := r.stub.Truth()
		written, first := int(truth.Written), int(truth.Deliveries)+len(truth.Lost)
		if int(r.accepted.Load()) == r.load.messages && first >= r.expected && int(r.arrivals.Load()) >= written {
			return
		}
		select {
		case <-tick.C:
		case <-limit.C:
			r.t.Fatalf("not drained: accepted %d of %d, delivered or lost %d of %d, arrived %d of %d written", r.accepted.Load(), r.load.messages,
				first, r.expected, r.arrivals.Load(), written)
		}
	}
}
