package client

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// heard is a Handler that writes down what it is handed, one line per call.
type heard struct {
	mu    sync.Mutex
	lines []string
}

func (h *heard) add(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	h.mu.Lock()
	h.lines = append(h.lines, line)
	h.mu.Unlock()
}

func (h *heard) take() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := strings.Join(h.lines, "; ")
	h.lines = nil
	return s
}

func (h *heard) OnWelcome(_ time.Duration, w *Welcome) {
	s := "welcome"
	for _, c := range w.Conversations {
		s += fmt.Sprintf(" %s %d-%d", c.Conversation, c.Cursor, c.Head)
		if c.Behind {
			s += " behind"
		}
		if c.CountOnly {
			s += " closed"
		}
	}
	h.add("%s", s)
}
func (h *heard) OnDelivery(now time.Duration, m *Delivery) {
	h.add("%v %s %d/%d %s %s", now, m.Conversation, m.Epoch, m.Seq, m.Sender, m.ClientMsgID)
}
func (h *heard) OnAnswer(_ time.Duration, a *Answer) {
	h.add("answer %d %s %d/%d offline=%v", a.Ref, a.Conversation, a.Epoch, a.Seq, a.Offline)
}
func (h *heard) OnPage(_ time.Duration, p *Page) { h.add("page %d %s", p.Ref, pageLine(p)) }
func (h *heard) OnSyncPages(_ time.Duration, s *SyncPages) {
	line := fmt.Sprintf("sync %d more=%v", s.Ref, s.More)
	for i := range s.Pages {
		line += ", " + pageLine(&s.Pages[i])
	}
	h.add("%s", line)
}
func (h *heard) OnCounts(_ time.Duration, c *Counts) {
	h.add("counts %d %+v", c.Ref, c.Counts)
}
func (h *heard) OnFriends(_ time.Duration, f *Friends) {
	h.add("friends %d %v more=%v", f.Ref, f.Friends, f.More)
}
func (h *heard) OnConversation(_ time.Duration, s *Standing) {
	h.add("conversation %d %s behind=%v closed=%v", s.Ref, s.Conversation, s.Behind, s.CountOnly)
}
func (h *heard) OnPullNow(time.Duration, *PullNow) { h.add("pull now") }
func (h *heard) OnFault(now time.Duration, f *Fault) {
	h.add("%v fault %d %s retryable=%v", now, f.Ref, f.Code, f.Retryable)
}

func pageLine(p *Page) string {
	s := fmt.Sprintf("%s (%d,%d]", p.Conversation, p.After, p.UpTo)
	_ = p.Messages(func(m *Delivery) error {
		s += fmt.Sprintf(" %d", m.Seq)
		return nil
	})
	return s
}

// visit is a session that serves.
type visit struct {
	*heard
	t    *testing.T
	s    Session
	done chan error
}

func (w *webServer) visit(d *HTTP, hello Hello) *visit {
	w.t.Helper()
	v := &visit{heard: &heard{}, t: w.t, done: make(chan error, 1)}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := d.Connect(ctx, Identity{User: "al", Token: "token-1"}, hello, v.heard)
	if err != nil {
		w.t.Fatal(err)
	}
	v.s = s
	go func() { v.done <- s.Serve() }()
	synctest.Wait()
	return v
}

func (v *visit) expect(want string) {
	v.t.Helper()
	synctest.Wait()
	if got := v.take(); got != want {
		v.t.Errorf("heard %q, want %q", got, want)
	}
}

func (v *visit) close() {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := v.s.Close(ctx); err != nil {
		v.t.Errorf("close: %v", err)
	}
	<-v.done
}

func (w *webServer) expectAsked(want string) {
	w.t.Helper()
	synctest.Wait()
	if got := w.asked(); got != want {
		w.t.Errorf("asked %q, want %q", got, want)
	}
}

// later lets d go by, and all that it brings.
func later(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
