package push

// Ahead pushes a message to every member that is live and has room before it
// is stored for anybody, as designs do that store only for who isn't reached,
// and adds the users of these members to reached. The head stays where it is:
// the message goes to Deliver, with Message.Ahead set, once it is stored for
// all others, and these are told to pull it then. So nothing that waits in the
// store is ever covered by the head, a page or a login before it is there.
//
// A message that doesn't follow the head reaches nobody. Only for fleeting rooms.
func (r *Room) Ahead(msg *Message, reached map[string]struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if msg.Seq != r.head+1 || len(r.members) == 0 {
		return
	}
	e := encodeDeliver(r.conversation, r.epoch, msg)
	for _, m := range r.members {
		if m.ahead(&e, msg) {
			reached[m.conn.user] = struct{}{}
		}
	}
	r.wake()
}

func (m *Member) ahead(e *encoded, msg *Message) bool {
	r, c := m.room, m.conn
	if m.state != Live || msg.Sender == c.user {
		return false
	}
	if msg.Seq <= m.pushed { // the message comes again: storing it was tried before
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	b := e.bytes(c.form, r.conversation, r.epoch, msg)
	if !c.roomLocked(1, len(b), false) {
		return false
	}
	c.queue = append(c.queue, b)
	c.bytes += len(b)
	if c.scheduleLocked() {
		r.wakes = append(r.wakes, c)
	}
	m.pushed = msg.Seq
	r.hub.stats.pushed.Add(1)
	return true
}
