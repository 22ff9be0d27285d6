package push

// Reaches says whether a message to user would be pushed now: a member of this
// name is live here and has room. What it answers may change before the
// message is delivered; Message.Pushed tells what became of it.
func (r *Room) Reaches(user string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.members {
		if m.conn.user == user && m.reachable() {
			return true
		}
	}
	return false
}

func (m *Member) reachable() bool {
	if m.state != Live {
		return false
	}
	m.conn.mu.Lock()
	defer m.conn.mu.Unlock()
	return m.conn.roomLocked(1, 0, !m.room.fleeting)
}
