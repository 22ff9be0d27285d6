package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// fakeChild is a mortal that lives until it is killed: a channel that is closed
// then, and another after a restart.
type fakeChild struct {
	died  chan struct{}
	cause error
}

func (f *fakeChild) Died() <-chan struct{} { return f.died }
func (f *fakeChild) Cause() error          { return f.cause }

func (f *fakeChild) kill(cause error) {
	f.cause = cause
	close(f.died)
}

func (f *fakeChild) restart() { f.died, f.cause = make(chan struct{}), nil }

func TestLife(t *testing.T) {
	dead := errors.New("signal: killed")
	for _, tt := range []struct {
		name string
		play func(l *life, f *fakeChild)
		want bool // the run is broken off
	}{
		{"it lives", func(*life, *fakeChild) {}, false},
		{"it dies", func(_ *life, f *fakeChild) { f.kill(dead) }, true},
		{"a fault kills and restarts it", func(l *life, f *fakeChild) {
			l.down.Store(true)
			f.kill(dead)
			synctest.Wait()
			f.restart()
			l.back()
		}, false},
		{"twice, and then it dies by itself", func(l *life, f *fakeChild) {
			for range 2 {
				l.down.Store(true)
				f.kill(dead)
				synctest.Wait()
				f.restart()
				l.back()
				synctest.Wait()
			}
			f.kill(dead)
		}, true},
		{"it is down when the run ends", func(l *life, f *fakeChild) {
			l.down.Store(true)
			f.kill(dead)
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, f := newLife(), &fakeChild{died: make(chan struct{})}
				ctx, fail := context.WithCancelCause(t.Context())
				defer fail(nil)
				stop, done := make(chan struct{}), make(chan struct{})
				go func() {
					defer close(done)
					l.watch(f, "child", stop, fail)
				}()
				synctest.Wait()
				tt.play(&l, f)
				synctest.Wait()
				if broken := ctx.Err() != nil; broken != tt.want {
					t.Errorf("broken off: %v (%v), want %v", broken, context.Cause(ctx), tt.want)
				}
				close(stop)
				<-done
			})
		})
	}
}
