package gateway

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"ackmark/refserver/wire"
)

// contract is openapi.yaml, ready to check what goes over the wire against it.
type contract struct {
	doc    *openapi3.T
	router routers.Router
}

func loadContract(t *testing.T) *contract {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromFile("../wire/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		t.Fatal(err)
	}
	doc.Servers = nil // the test's server has an address of its own
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return &contract{doc, router}
}

func TestContractHasEveryRoute(t *testing.T) {
	var file, table []string
	for path, item := range loadContract(t).doc.Paths.Map() {
		for method := range item.Operations() {
			file = append(file, method+" "+path)
		}
	}
	for _, r := range start(t, nil).g.routes() {
		table = append(table, r.method+" "+r.path)
	}
	slices.Sort(file)
	slices.Sort(table)
	if !slices.Equal(file, table) {
		t.Errorf("openapi.yaml has\n%s\nthe gateway has\n%s", strings.Join(file, "\n"), strings.Join(table, "\n"))
	}
}

// operation is one call; valid says that the request keeps to the contract,
// the answer has to do so in any case.
type operation struct {
	name, method, path, credentials, body string
	header                                map[string]string
	status                                int
	invalid                               bool
}

func (c *contract) check(t *testing.T, h *harness, op operation) {
	t.Helper()
	build := func() *http.Request {
		req, err := http.NewRequest(op.method, "http://"+h.addr+op.path, strings.NewReader(op.body))
		if err != nil {
			t.Fatal(err)
		}
		if op.body != "" {
			req.Header.Set("Content-Type", contentType)
		}
		if op.credentials != "" {
			req.Header.Set("Authorization", "Bearer "+op.credentials)
		}
		for k, v := range op.header {
			req.Header.Set(k, v)
		}
		return req
	}
	req := build()
	route, params, err := c.router.FindRoute(req)
	if err != nil {
		t.Fatal(err)
	}
	in := &openapi3filter.RequestValidationInput{
		Request: req, PathParams: params, Route: route,
		Options: &openapi3filter.Options{IncludeResponseStatus: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	}
	if err := openapi3filter.ValidateRequest(context.Background(), in); (err != nil) != op.invalid {
		t.Errorf("request: %v; want invalid: %v", err, op.invalid)
	}
	res, err := h.client.Do(build())
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var body []byte
	if res.StatusCode != http.StatusSwitchingProtocols {
		if body, err = io.ReadAll(res.Body); err != nil {
			t.Fatal(err)
		}
	}
	if res.StatusCode != op.status {
		t.Errorf("status %d %s; want %d", res.StatusCode, body, op.status)
	}
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: res.StatusCode, Header: res.Header,
		Body: io.NopCloser(bytes.NewReader(body)), Options: in.Options,
	}
	if err := openapi3filter.ValidateResponse(context.Background(), out); err != nil {
		t.Errorf("response %d %s: %v", res.StatusCode, body, err)
	}
}

// good are requests that succeed, one or more for every operation.
func good(h *harness) []operation {
	alice := h.token("alice")
	handshake := map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
		"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": wire.SubprotocolJSON}
	return []operation{
		{name: "connect", method: "GET", path: "/v1/connect", credentials: alice, header: handshake, status: 101},
		{name: "connect, token in the query", method: "GET", path: "/v1/connect?token=" + alice, header: handshake, status: 101},
		{name: "hello", method: "POST", path: "/v1/hello", credentials: alice, body: `{"resume":[{"conversation":"g:g1","epoch":7,"cursor":1}],"window":10}`, status: 200},
		{name: "send", method: "POST", path: "/v1/send", credentials: alice, body: `{"ref":1,"to":"g:g1","client_msg_id":"m1","body":"hi"}`, status: 200},
		{name: "pull", method: "POST", path: "/v1/pull", credentials: alice, body: `{"conversation":"u:alice","epoch":7,"after":1,"limit":10,"ack":true}`, status: 200},
		{name: "pull of one sender", method: "POST", path: "/v1/pull", credentials: alice, body: `{"conversation":"u:alice","sender":"bob","all":true}`, status: 200},
		{name: "pull, newest first", method: "POST", path: "/v1/pull", credentials: alice, body: `{"conversation":"u:alice","newest":true,"before":9,"ids":[9,10]}`, status: 200},
		{name: "sync", method: "POST", path: "/v1/sync", credentials: alice, body: `{"ref":3,"after":[{"conversation":"g:g1","epoch":7,"cursor":1}],"limit":100,"ack":true}`, status: 200},
		{name: "hello, live and closed", method: "POST", path: "/v1/hello", credentials: alice, body: `{"live":true,"closed":true}`, status: 200},
		{name: "ack", method: "POST", path: "/v1/ack", credentials: alice, body: `{"conversation":"g:g1","epoch":7,"up_to":1}`, status: 200},
		{name: "ack by ids", method: "POST", path: "/v1/ack", credentials: alice, body: `{"conversation":"u:alice","epoch":7,"ids":[1,3]}`, status: 200},
		{name: "counts", method: "GET", path: "/v1/counts", credentials: alice, status: 200},
		{name: "counts by sender", method: "GET", path: "/v1/counts?senders=true", credentials: alice, status: 200},
		{name: "friends", method: "GET", path: "/v1/friends", credentials: alice, status: 200},
		{name: "friends, second page", method: "GET", path: "/v1/friends?after=bob&limit=1", credentials: alice, status: 200},
		{name: "users", method: "POST", path: "/v1/admin/users", credentials: testAdmin, body: `{"users":["alice","bob"]}`, status: 200},
		{name: "groups", method: "POST", path: "/v1/admin/groups", credentials: testAdmin, body: `{"groups":[{"id":"g1","members":["alice"]}]}`, status: 200},
		{name: "remove", method: "POST", path: "/v1/admin/members/remove", credentials: testAdmin, body: `{"group":"g1","members":["alice"]}`, status: 200},
		{name: "make friends", method: "POST", path: "/v1/admin/friends", credentials: testAdmin, body: `{"friends":[{"user":"alice","friends":["bob"]}]}`, status: 200},
		{name: "metrics", method: "GET", path: "/metrics", status: 200},
		{name: "healthz", method: "GET", path: "/healthz", status: 200},
		{name: "readyz", method: "GET", path: "/readyz", status: 200},
	}
}

func TestContractHoldsForAnswers(t *testing.T) {
	c, h := loadContract(t), start(t, nil)
	tested := map[string]bool{}
	for _, op := range good(h) {
		t.Run(op.name, func(t *testing.T) { c.check(t, h, op) })
		path, _, _ := strings.Cut(op.path, "?")
		tested[op.method+" "+path] = true
	}
	for _, r := range h.g.routes() {
		if !tested[r.method+" "+r.path] {
			t.Errorf("%s %s isn't tested", r.method, r.path)
		}
	}
}

func TestContractHoldsForErrors(t *testing.T) {
	c := loadContract(t)
	h := start(t, func(c *Config) { c.MaxFrame, c.MaxAdminBody, c.MaxAdminItems = 1024, 1024, 1 })
	for _, op := range good(h) {
		op.header = map[string]string{}
		op.invalid = strings.HasPrefix(op.path, "/v1/connect")
		with := func(name string, change func(*operation)) {
			o := op
			o.name = op.name + ": " + name
			change(&o)
			t.Run(o.name, func(t *testing.T) { c.check(t, h, o) })
		}
		if op.invalid {
			with("no upgrade", func(o *operation) { o.status = 400 })
		}
		if strings.HasPrefix(op.path, "/v1/") {
			with("wrong credentials", func(o *operation) {
				o.credentials, o.status = "x.y.z", 401
				o.path, _, _ = strings.Cut(o.path, "?")
			})
			with("no credentials", func(o *operation) {
				o.credentials, o.status = "", 401
				o.path, _, _ = strings.Cut(o.path, "?")
			})
		}
		if !strings.Contains(op.path, "?") {
			with("unknown query parameter", func(o *operation) { o.path += "?unknown=1"; o.status = 400 })
		}
		if op.method == "POST" {
			with("unknown key", func(o *operation) { o.body = `{"unknown":1,` + o.body[1:]; o.status, o.invalid = 400, true })
			with("wrong type", func(o *operation) { o.body = `[]`; o.status, o.invalid = 400, true })
			with("oversized", func(o *operation) { o.body = strings.Repeat(" ", 1024) + o.body; o.status = 413 })
			with("form", func(o *operation) { o.header["Content-Type"] = "text/plain"; o.status, o.invalid = 422, true })
		}
	}
	h.svc.setFail(nil)
	c.check(t, h, operation{method: "POST", path: "/v1/admin/users", credentials: testAdmin, body: `{"users":["a","b"]}`, status: 422})
}

// What the service may answer, operation by operation.
func TestContractHoldsForFaults(t *testing.T) {
	c, h := loadContract(t), start(t, nil)
	all := []wire.Code{wire.CodeBadRequest, wire.CodeOverloaded, wire.CodeUnavailable, wire.CodeShuttingDown, wire.CodeInternal}
	more := map[string][]wire.Code{
		"/v1/hello":                {wire.CodeNoSuchUser, wire.CodeTooLarge, wire.CodeTooMany},
		"/v1/send":                 {wire.CodeNotMember, wire.CodeNotFriend, wire.CodeNoSuchUser, wire.CodeNoSuchGroup, wire.CodeTooLarge, wire.CodeUnsupported},
		"/v1/pull":                 {wire.CodeNotMember, wire.CodeNoSuchUser, wire.CodeNoSuchGroup, wire.CodeTooMany, wire.CodeTooLarge, wire.CodeUnsupported},
		"/v1/sync":                 {wire.CodeNotMember, wire.CodeNoSuchUser, wire.CodeNoSuchGroup, wire.CodeTooLarge},
		"/v1/ack":                  {wire.CodeNotMember, wire.CodeNoSuchUser, wire.CodeNoSuchGroup, wire.CodeTooMany},
		"/v1/counts":               {wire.CodeNoSuchUser, wire.CodeNoSuchGroup, wire.CodeUnsupported},
		"/v1/counts?senders=true":  {wire.CodeNoSuchUser, wire.CodeUnsupported},
		"/v1/friends":              {wire.CodeNoSuchUser},
		"/v1/admin/users":          {},
		"/v1/admin/groups":         {wire.CodeNoSuchUser},
		"/v1/admin/members/remove": {wire.CodeNoSuchGroup, wire.CodeNoSuchUser},
		"/v1/admin/friends":        {wire.CodeNoSuchUser},
	}
	for _, op := range good(h) {
		codes, ok := more[op.path]
		if !ok {
			continue
		}
		for _, code := range append(slices.Clone(all), codes...) {
			t.Run(op.name+" "+string(code), func(t *testing.T) {
				h.svc.setFail(&wire.Fault{Code: code, Message: "as the test wants", Conversation: "g:g1"})
				op.status = code.HTTPStatus()
				c.check(t, h, op)
			})
		}
	}
	h.svc.setFail(nil)
	h.g.Drain()
	for _, op := range good(h) {
		if op.name == "healthz" || op.name == "metrics" {
			continue
		}
		t.Run(op.name+" while draining", func(t *testing.T) { op.status = 503; c.check(t, h, op) })
	}
}
