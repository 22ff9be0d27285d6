package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/valyala/fasthttp"

	"ackmark/loadgen/client"
	"ackmark/refserver/wire"
)

// poster sends messages over one HTTP connection, one at a time. It isn't safe
// for concurrent use.
type poster struct {
	addr    string
	timeout time.Duration // of one attempt
	retries int           // further attempts, with the same client_msg_id
	once    bool          // the server knows no client_msg_id again: only what it refused is tried again

	conn net.Conn
	in   *bufio.Reader
	out  *bufio.Writer
}

// retryPause is the first wait before another attempt; it doubles.
const retryPause = 50 * time.Millisecond

// send posts a message until it is stored, it is refused for good, the retries
// are used up or ctx ends.
func (p *poster) send(ctx context.Context, token string, m *client.Message) (*wire.SendResult, error) {
	body, err := wire.EncodeJSON(&wire.Send{To: m.To, ClientMsgId: m.ClientMsgID, Body: string(m.Body)})
	if err != nil {
		return nil, err
	}
	pause := retryPause
	for try := 0; ; try++ {
		answer, err := p.post(ctx, token, body)
		var f *client.Fault
		switch {
		case err == nil:
			return answer, nil
		case try >= p.retries, errors.As(err, &f) && !f.Retryable, f == nil && p.once:
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
		pause *= 2
	}
}

// post is one attempt.
func (p *poster) post(ctx context.Context, token string, body []byte) (*wire.SendResult, error) {
	if err := p.connect(ctx); err != nil {
		return nil, err
	}
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(res)
	req.Header.SetMethod(fasthttp.MethodPost)
	req.SetRequestURI("/v1/send")
	req.Header.SetHost(p.addr)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.SetContentType("application/json")
	req.SetBodyRaw(body)
	err := p.conn.SetDeadline(time.Now().Add(p.timeout))
	if err == nil {
		err = req.Write(p.out)
	}
	if err == nil {
		err = p.out.Flush()
	}
	if err == nil {
		err = res.Read(p.in)
	}
	if err != nil || res.ConnectionClose() {
		p.close()
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("POST /v1/send: %w", err)
	case res.StatusCode() != fasthttp.StatusOK:
		return nil, faultOf(res)
	}
	answer := &wire.SendResult{}
	if err := wire.DecodeJSON(res.Body(), answer); err != nil {
		return nil, fmt.Errorf("POST /v1/send: the answer: %w", err)
	}
	return answer, nil
}

func faultOf(res *fasthttp.Response) error {
	var e wire.Error
	if err := wire.DecodeJSON(res.Body(), &e); err != nil || e.Code == "" {
		return &client.Fault{Code: fmt.Sprintf("HTTP %d", res.StatusCode()), Message: "not an answer of this protocol"}
	}
	return &client.Fault{Code: e.Code, Message: e.Message, Retryable: e.Retryable, Conversation: e.Conversation}
}

func (p *poster) connect(ctx context.Context) error {
	if p.conn != nil {
		return nil
	}
	d := net.Dialer{Timeout: p.timeout}
	conn, err := d.DialContext(ctx, "tcp", p.addr)
	if err != nil {
		return err
	}
	p.conn, p.in, p.out = conn, bufio.NewReader(conn), bufio.NewWriter(conn)
	return nil
}

func (p *poster) close() {
	if p.conn != nil {
		p.conn.Close()
		p.conn = nil
	}
}
