package client

import "syscall"

// TryFlush writes what is queued as far as the socket takes it at once. It
// returns false when something is left, for Flush to write: also where the
// driver's connection is no plain socket. It never waits for the network.
func (s *wsSession) TryFlush() bool {
	if !s.mu.TryLock() {
		return false
	}
	defer s.mu.Unlock()
	if s.writing { // who writes goes on until nothing is queued
		return true
	}
	if len(s.out) == 0 || s.err != nil {
		return true
	}
	s.writing = true
	b := s.out
	s.out = s.spare[:0]
	s.spare = nil
	s.bound(s.clock())
	s.mu.Unlock()
	n := s.count.tryWrite(s.conn, b)
	s.mu.Lock()
	if n == len(b) {
		s.keep(b)
	} else { // what was queued meanwhile comes after it
		s.out = append(b[:copy(b, b[n:])], s.out...)
	}
	s.writing = false
	s.wrote.Broadcast()
	return len(s.out) == 0
}

// tryWrite is one write(2), which takes what fits; 0 where that can't be done.
func (c *counter) tryWrite(conn any, b []byte) int {
	plain, ok := conn.(*counted)
	if !ok {
		return 0
	}
	socket, ok := plain.Conn.(syscall.Conn)
	if !ok {
		return 0
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return 0
	}
	n := 0
	_ = raw.Write(func(fd uintptr) bool { // an error shows again in Flush
		n, _ = syscall.Write(int(fd), b)
		return true
	})
	n = max(n, 0)
	c.written.Add(uint64(n))
	return n
}
