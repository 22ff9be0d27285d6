package engine

import (
	"context"
	"testing"

	"ackmark/loadgen/client"
)

// asker is a connection over HTTP that has polled so often.
type asker struct {
	stuckSession
	n uint64
}

func (a *asker) Requests() (all, polls uint64) { return a.n + 1, a.n }

type askers struct{ next []client.Session }

func (a *askers) Connect(context.Context, client.Identity, client.Hello, client.Handler) (client.Session, error) {
	s := a.next[0]
	a.next = a.next[1:]
	return s, nil
}

func TestPolls(t *testing.T) {
	first, second, other := &asker{n: 3}, &asker{n: 4}, &asker{}
	p := countPolls(&askers{next: []client.Session{first, other, second, &stuckSession{}}})
	for _, dev := range []int{0, 1, 0, 2} { // device 0 connects again
		if _, err := p.Connect(t.Context(), client.Identity{Index: dev}, client.Hello{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	other.n = 10
	if n := p.total(); n != 3+10+4 {
		t.Errorf("%d polls, want 17: of both connections of a device, and those since it connected", n)
	}
}
