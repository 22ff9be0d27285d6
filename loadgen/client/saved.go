package client

import "ackmark/loadgen/client/dedup"

// Saved is what a device had persisted when it ended: how often it had logged
// in, and, together with what it showed, what its dedup needs to know that
// again. Everything else of a session is forgotten in a crash: what was behind a
// gap, sends without an answer, what wasn't acked.
type Saved struct {
	logins        int
	conversations []savedConversation
}

type savedConversation struct {
	name  string
	epoch uint64
	seen  dedup.Saved
}

// Logins returns how often the device had logged in.
func (s *Saved) Logins() int { return s.logins }

// Bytes returns what the dedup state takes at least, in bytes, names apart.
func (s *Saved) Bytes() int {
	n := 0
	for i := range s.conversations {
		n += s.conversations[i].seen.Bytes()
	}
	return n
}

// DeviceFrom makes a device that goes on with what another one of the same fleet
// and user had persisted; with nil it is Device.
func (f *Fleet) DeviceFrom(id Identity, s *Saved) *Device {
	d := f.Device(id)
	if s == nil {
		return d
	}
	d.logins = s.logins
	watermark := f.dedup.Config().Mode == dedup.Watermark
	for i := range s.conversations {
		v := &s.conversations[i]
		c := d.discover(v.name, v.epoch, v.seen.Mark)
		c.seen = f.dedup.Restore(&v.seen)
		c.fresh = !watermark
	}
	return d
}

// Saved returns what the device has persisted by now; once it has crashed, by
// then.
func (d *Device) Saved() *Saved {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.saved != nil {
		return d.saved
	}
	return d.save()
}

func (d *Device) save() *Saved {
	s := &Saved{logins: d.logins}
	if d.dedup.Config().Mode == dedup.None {
		return s
	}
	for _, c := range d.all {
		epoch := c.epoch
		if c.falling {
			epoch = c.formerEpoch // what was shown has seqs of that one
		}
		s.conversations = append(s.conversations, savedConversation{name: c.name, epoch: epoch, seen: c.seen.Save()})
	}
	return s
}
