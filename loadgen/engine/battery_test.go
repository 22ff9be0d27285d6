package engine

import (
	"testing"
	"time"

	"ackmark/loadgen/client"
	"ackmark/results"
)

// From one mark to the other, over 10 s: 4 devices, of which one was never there,
// sent 600 bytes of acks for 1,200 deliveries, and woke 900 times, 60 of them for
// an ack alone.
func TestBattery(t *testing.T) {
	r := &run{obs: &observer{devices: make([]deviceState, 4)}, out: results.Run{Metrics: results.Values{}}}
	for i := range 3 {
		r.obs.devices[i].used = true
	}
	r.marks[0].carried = carried{read: 1, wrote: 1, acks: 400, wakeups: 100, ackWakeups: 40}
	r.marks[1].carried = carried{read: 9, wrote: 9, acks: 1000, wakeups: 1000, ackWakeups: 100}
	r.battery(10, 1200)
	for name, want := range map[string]float64{
		"ack_bytes_per_delivery": 0.5, "ack_bytes_per_s": 20, "client_wakeups_per_s": 30, "ack_wakeups_per_s": 2,
	} {
		if got, _ := r.out.Metrics.Get(name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// Redelivered is divided by crashes and resets together; null without any.
func TestRedeliveredPerCrash(t *testing.T) {
	r := &run{obs: &observer{}, out: results.Run{Metrics: results.Values{}}}
	r.out.Audit.Redelivered = 60
	r.redeliveries()
	if v, named := r.out.Metrics["redelivered_per_crash"]; !named || v != nil {
		t.Errorf("without crashes: %v, want null", v)
	}
	r.obs.logins.crashes, r.damage.resets = 3, 5
	r.redeliveries()
	if got, _ := r.out.Metrics.Get("redelivered_per_crash"); got != 7.5 {
		t.Errorf("%v, want 60/8", got)
	}
}

// A device's power is cut with one of two deliveries there that make a batch. The
// next one, after it has come back, begins another batch: nothing is acked.
func TestPowerCut(t *testing.T) {
	o, m := observerOf(t, 2)
	o.ledger.OnSend(0, 0)
	o.ledger.OnSend(0, 1)
	o.OnConnection(1, true, time.Second, nil)
	o.OnTaken(1, client.Arrival{Conversation: "g:g", Epoch: 1, Seq: 1, ClientMsgID: []byte(m.id(0, 0)), At: 2 * time.Second})
	o.powerCut(1, 2*time.Second+time.Millisecond)
	st := &o.devices[1]
	if st.up || !st.syncing || o.tallies.connections.Load() != 0 || o.tallies.syncing.Load() != 1 || o.logins.crashes != 1 || st.unacked.n != 0 {
		t.Errorf("up %v, %d connections, %d syncing, %d crashes, %d unacked; want it dead, and waited for", st.up, o.tallies.connections.Load(), o.tallies.syncing.Load(), o.logins.crashes, st.unacked.n)
	}
	o.OnTaken(1, client.Arrival{Conversation: "g:g", Epoch: 1, Seq: 2, ClientMsgID: []byte(m.id(0, 1)), At: 3 * time.Second})
	replay := st.replays["g:g"]
	replay.Close(time.Hour)
	if n := replay.Acks(); n != 0 {
		t.Errorf("the policy, replayed, acks %d times, the device not at all", n)
	}
}
