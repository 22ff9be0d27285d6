package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

// serveArgs makes this test binary the program: a process that can be killed.
const serveArgs = "ACKMARK_TEST_SERVE"

// process is a server in a process of its own.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	addr string
}

func startProcess(t *testing.T, redis string, args ...string) *process {
	t.Helper()
	addrFile := filepath.Join(t.TempDir(), "addr")
	all := append([]string{"serve", "--listen", "127.0.0.1:0", "--redis", redis, "--addr-file", addrFile, "--exit-with-stdin",
		"--token-secret", testToken, "--admin-secret", testAdmin, "--log-level", "error"}, args...)
	p := &process{t: t, cmd: exec.Command(os.Args[0], "-test.run=^$")}
	p.cmd.Env = append(os.Environ(), serveArgs+"="+strings.Join(all, "\n"))
	p.cmd.Stderr = os.Stderr
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		p.kill()
	})
	for deadline := time.Now().Add(patience); p.addr == ""; {
		if time.Now().After(deadline) {
			t.Fatal("the server doesn't start")
		}
		b, _ := os.ReadFile(addrFile)
		p.addr = strings.TrimSpace(string(b))
	}
	return p
}

// kill ends the process as kill -9 does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// post makes one request; an error is an answer that didn't come.
func post(client *http.Client, addr, path, credentials string, body, into any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(http.MethodPost, "http://"+addr+path, bytes.NewReader(b))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+credentials)
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%d %s", res.StatusCode, answer)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}

// The server is killed again and again in the middle of fan-outs, until that has
// left messages half-way several times. Senders resend what was not answered.
// In the end each message that was answered is stored once for each member but
// its sender, and no other message is stored more than once or for some only.
func TestKilledInFanOuts(t *testing.T) {
	const (
		members, senders = 150, 4
		body             = 8 << 10 // large enough for a pipeline of rows to be cut in the middle
		halfWay          = 3       // kills that have to leave something half-way
	)
	for _, group := range []string{"copies", "ids"} {
		t.Run(group, func(t *testing.T) {
			redis := redistest.Start(t)
			args := []string{"--group", group, "--dedup-for", "1h"}
			users := make([]string, members)
			for i := range users {
				users[i] = fmt.Sprintf("u%d", i)
			}
			client := &http.Client{Timeout: patience}
			t.Cleanup(client.CloseIdleConnections)
			p := startProcess(t, redis.URL(), args...)
			if err := post(client, p.addr, "/v1/admin/users", testAdmin, map[string]any{"users": users}, nil); err != nil {
				t.Fatal(err)
			}
			groups := map[string]any{"groups": []any{map[string]any{"id": "g", "members": users}}}
			if err := post(client, p.addr, "/v1/admin/groups", testAdmin, groups, nil); err != nil {
				t.Fatal(err)
			}

			next := make([]int, senders) // the first id of each sender that isn't answered yet
			seqs := map[string]uint64{}  // client_msg_id → seq, of those that are answered
			var mu sync.Mutex            // guards seqs
			storm := func(addr string, until func(i int) bool) {
				var wg sync.WaitGroup
				for i := range senders {
					wg.Go(func() {
						for !until(i) {
							id := fmt.Sprintf("s%d.%d", i, next[i])
							var r wire.SendResult
							if post(client, addr, "/v1/send", token(t, users[i]), &wire.Send{To: "g:g", ClientMsgId: id, Body: strings.Repeat("x", body)}, &r) != nil {
								return
							}
							mu.Lock()
							seqs[id] = r.Seq
							mu.Unlock()
							next[i]++
						}
					})
				}
				wg.Wait()
			}
			left := 0
			for round := 0; left < halfWay; round++ {
				if round == 60 {
					t.Fatalf("%d of 60 kills left something half-way, want %d", left, halfWay)
				}
				timer := time.AfterFunc(time.Duration(30+7*(round%10))*time.Millisecond, func() { _ = p.cmd.Process.Kill() })
				storm(p.addr, func(int) bool { return false })
				timer.Stop()
				p.kill()
				if n, err := redis.Client().HLen(context.Background(), "am:{g:g}:storing").Result(); err != nil {
					t.Fatal(err)
				} else if n > 0 {
					left++
				}
				p = startProcess(t, redis.URL(), args...)
			}
			goal := slices.Max(next) + 2
			storm(p.addr, func(i int) bool { return next[i] >= goal })
			if len(seqs) != senders*goal {
				t.Fatalf("%d sends were answered, want %d", len(seqs), senders*goal)
			}

			stored := map[string]uint64{}
			for i, user := range users {
				got := map[string]uint64{}
				after := uint64(0)
				for more := true; more; {
					var page wire.Page
					if err := post(client, p.addr, "/v1/pull", token(t, user), &wire.PageRequest{Conversation: "g:g", After: after, Limit: 1000}, &page); err != nil {
						t.Fatal(err)
					}
					for _, m := range page.Messages {
						if was, twice := got[m.ClientMsgId]; twice {
							t.Errorf("%s has %s twice, as %d and %d", user, m.ClientMsgId, was, m.Seq)
						}
						got[m.ClientMsgId] = m.Seq
						stored[m.ClientMsgId] = m.Seq
					}
					after, more = page.UpTo, page.More
				}
				want := len(seqs)
				if i < senders {
					want -= goal
				}
				if len(got) != want || after != uint64(len(seqs)) {
					t.Errorf("%s has %d messages up to %d, want %d up to %d", user, len(got), after, want, len(seqs))
				}
			}
			for id, seq := range seqs {
				if stored[id] != seq {
					t.Errorf("%s was answered with %d and is stored as %d", id, seq, stored[id])
				}
			}
			if n := redis.Client().HLen(context.Background(), "am:{g:g}:storing").Val(); n != 0 {
				t.Errorf("%d messages are half-way in the end", n)
			}
		})
	}
}
