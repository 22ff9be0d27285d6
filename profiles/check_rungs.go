package profiles

// rule is one combination that can't work, or does nothing.
type rule struct {
	broken      bool
	keys        []string // the culprits; of equally specific ones the first is blamed
	what, right string
}

// rungs: the settings of the ladder that don't go together, with the reason.
func (c *checker) rungs() {
	s, cl, p := c.p.Server, c.p.Clients, c.p.Population
	onPull, cursor := s.Remove == RemoveOnPull, s.Group == GroupCursor
	perFriend := cl.Pull.Mode == PullPerFriend || cl.Pull.Mode == PullCountsFirst
	for _, r := range []rule{
		{onPull && cursor, []string{"server.remove", "server.group"},
			"server.remove on-pull with server.group cursor: the log is shared, a message goes when all cursors have passed it",
			"server.group: copies or ids, or server.remove: on-ack"},
		{s.StoreFor == StoreForOffline && cursor, []string{"server.store_for", "server.group"},
			"server.store_for offline with server.group cursor: one row serves all members, online or not",
			"server.group: copies or ids, or server.store_for: all"},
		{s.Cursor != CursorSeq && !cursor, []string{"server.cursor", "server.group"},
			"server.cursor " + s.Cursor + " with server.group " + s.Group + ": only group cursor has cursors",
			"server.group: cursor, or leave server.cursor out"},
		{s.Retention > 0 && !cursor, []string{"server.retention", "server.group"},
			"server.retention with server.group " + s.Group + ": there is no shared log to trim, each member's rows go on their own",
			"server.group: cursor, or server.retention: 0"},
		{onPull && cl.Pull.Ack != PullAckNone, []string{"clients.pull.ack", "server.remove"},
			"clients.pull.ack " + cl.Pull.Ack + " with server.remove on-pull: nothing is left to ack",
			"clients.pull.ack: none, or server.remove: on-ack"},
		{onPull && cl.Ack.Policy != AckNone, []string{"clients.ack.policy", "server.remove"},
			"clients.ack.policy " + cl.Ack.Policy + " with server.remove on-pull: nothing is left to ack",
			"clients.ack.policy: none, or server.remove: on-ack"},
		{!onPull && cl.Pull.Ack == PullAckNone, []string{"clients.pull.ack", "server.remove"},
			"clients.pull.ack none with server.remove on-ack: what is pulled would never be removed, and come again at each login",
			"server.remove: on-pull, or clients.pull.ack: next-page"},
		{!onPull && cl.Ack.Policy == AckNone && s.StoreFor == StoreForAll, []string{"clients.ack.policy", "server.remove", "server.store_for"},
			"clients.ack.policy none with server.remove on-ack: deliveries would be sent again for ever, until clients.window is full",
			"server.remove: on-pull, or another clients.ack.policy"},
		{perFriend && s.SenderIndex == Off, []string{"clients.pull.mode", "server.sender_index"},
			"clients.pull.mode " + cl.Pull.Mode + " needs an index (receiver, sender) of inboxes",
			"server.sender_index: on"},
		{perFriend && p.Friends == 0, []string{"clients.pull.mode", "population.friends"},
			"clients.pull.mode " + cl.Pull.Mode + " goes through a client's friends, and nobody has any",
			"population.friends: 100, or another clients.pull.mode"},
		{cl.Pull.Groups == GroupsAll && cl.Pull.Order == OrderNewest, []string{"clients.pull.groups", "clients.pull.order"},
			"clients.pull.groups all-groups with clients.pull.order newest: common pages go from group to group, oldest first",
			"clients.pull.order: oldest, or another clients.pull.groups"},
	} {
		if r.broken && c.sound(r.keys...) {
			c.problem(c.blame(r.keys...), r.right, "%s", r.what)
		}
	}
}

// idleSettings warns of what is set and does nothing.
func (c *checker) idleSettings() {
	s, cl := c.p.Server, c.p.Clients
	opens := cl.Pull.Mode == PullCountsFirst || cl.Pull.Groups == GroupsOnDemand
	for _, r := range []struct {
		idle             bool
		key, what, right string
	}{
		{cl.Transport != TransportHTTP, "clients.poll", "over " + cl.Transport, "clients.transport: http"},
		{cl.Transport == TransportHTTP, "clients.window", "over http, where a client asks for what it takes", "clients.transport: websocket"},
		{cl.Dedup != DedupWindow, "clients.dedup_window", "with clients.dedup " + cl.Dedup, "clients.dedup: window"},
		{!opens, "clients.pull.open", "where everything is opened", "clients.pull.mode: counts-first or clients.pull.groups: on-demand"},
		{cl.Pull.Mode != PullPaged && c.p.Population.Groups.Count == 0, "clients.pull.order", "where nothing is pulled in pages", "clients.pull.mode: paged"},
		{cl.Session == 0, "clients.away", "without clients.session", "clients.session: 10s"},
		{c.p.Traffic.Login == nil && cl.Session > 0, "clients.session", "where nobody logs in", "traffic: {login: {rate: 20/s}}"},
		{s.Dedup == Off, "server.dedup_for", "with server.dedup off", "server.dedup: on"},
		{cl.Crash.Between == CrashOff, "clients.crash.probability", "without clients.crash.between", "clients.crash.between: pull-and-ack"},
		{cl.Crash.Between == CrashOff, "clients.crash.login", "without clients.crash.between", "clients.crash.between: pull-and-ack"},
		{cl.Crash.Between == CrashOff, "clients.crash.relogin", "without clients.crash.between", "clients.crash.between: pull-and-ack"},
	} {
		if _, set := c.set[r.key]; set && r.idle && c.sound("clients", "server", "population", "traffic") {
			c.warn(c.blame(r.key), r.right+", or leave it out", "%s has no effect %s", r.key, r.what)
		}
	}
	if cl.Transport == TransportHTTP && s.StoreFor == StoreForOffline {
		c.warn(c.blame("clients.transport", "server.store_for"), "clients.transport: websocket to measure the design",
			"clients.transport http with server.store_for offline: who polls isn't connected, so every message is stored for everybody")
	}
}

// crash: the point where clients crash is one that they reach, and not each
// time they come back.
func (c *checker) crash() {
	const between, probability, login = "clients.crash.between", "clients.crash.probability", "clients.crash.login"
	cl, t := c.p.Clients, c.p.Traffic
	if cl.Crash.Between == CrashOff || !c.sound("clients", "traffic", "population") {
		return
	}
	live := cl.Crash.Between == CrashReceiveAndAck
	for _, r := range []rule{
		{live && t.Group == nil && t.Direct == nil, []string{between},
			"clients.crash.between receive-and-ack, but nothing is delivered live: there is no traffic.group or traffic.direct",
			"clients.crash.between: pull-and-ack or mid-sync, or traffic"},
		{!live && t.Login == nil, []string{between},
			"clients.crash.between " + cl.Crash.Between + ", but nobody logs in, so nobody pulls",
			"clients.crash.between: receive-and-ack, or traffic.login"},
		{cl.Crash.Between == CrashMidSync && cl.Pull.Mode == PullAll && c.p.Population.Groups.Count == 0, []string{between, "clients.pull.mode"},
			"clients.crash.between mid-sync with clients.pull.mode all: one answer has no middle",
			"clients.crash.between: pull-and-ack, or clients.pull.mode: paged"},
		{cl.Crash.Login == 0 && cl.Crash.Probability == 100, []string{login, probability},
			"each login of each client would crash: nobody would ever get through",
			"clients.crash.login: 1, or a smaller clients.crash.probability"},
		{cl.Crash.Login > 1 && cl.Session == 0 && len(c.p.Faults) == 0, []string{login, "clients.session"},
			"only a later login crashes, but nobody logs in twice",
			"clients.crash.login: 1, or clients.session: 5s"},
	} {
		if r.broken {
			c.problem(c.blame(r.keys...), r.right, "%s", r.what)
		}
	}
}
