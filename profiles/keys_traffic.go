package profiles

// populationKeys say who exists.
func populationKeys() []Key {
	return []Key{
		{Name: "population.users", Type: TypeInteger, Unit: "users", Default: "500", Min: "1", Max: "10000000", Workload: true,
			Help: "how many users exist"},
		{Name: "population.groups.count", Type: TypeInteger, Unit: "groups", Default: "1", Min: "0", Max: "1000000", Workload: true,
			Help: "how many groups exist"},
		{Name: "population.groups.members", Type: TypeInteger, Unit: "users", Default: "500", Min: "2", Max: "100000", Workload: true,
			Help: "members of each group, drawn from the users; a user can be in several groups"},
		{Name: "population.friends", Type: TypeInteger, Unit: "users", Default: "0", Min: "0", Max: "10000", Workload: true,
			Help: "friends of each user, mutual unless friends_of is set; direct messages go to friends if there are any, else to anybody"},
		{Name: "population.friends_of", Type: TypeInteger, Unit: "users", Default: "0", Min: "0", Max: "10000000", Workload: true, Later: true,
			Help: "how many users have a friend list; 0: all. N: the first N, whose friends are the users after each, one way"},
	}
}

// trafficKeys say what waits, what is sent and who logs in.
func trafficKeys() []Key {
	return []Key{
		{Name: "backlog.direct.share", Type: TypePercent, Default: "5%", Above: "0%", Workload: true,
			Help: "share of an offline user's friends that have sent to it before it logs in"},
		{Name: "backlog.direct.messages", Type: TypeInteger, Unit: "messages", Default: "3", Min: "1", Max: "100000", Workload: true,
			Help: "from each of them"},
		{Name: "backlog.direct.bytes", Type: TypeBytes, Default: "200", Min: "1", Max: "64KiB", Workload: true,
			Help: "size of a message body"},
		{Name: "backlog.group.messages", Type: TypeInteger, Unit: "messages", Default: "1000", Min: "1", Max: "1000000", Workload: true,
			Help: "stored in each group before anybody logs in"},
		{Name: "backlog.group.bytes", Type: TypeBytes, Default: "200", Min: "1", Max: "64KiB", Workload: true,
			Help: "size of a message body"},

		{Name: "traffic.group.rate", Type: TypeRate, Unit: "messages", Default: "20/s", Above: "0/s", Max: "1000000/s", Workload: true,
			Help: "sends to groups, over all groups"},
		{Name: "traffic.group.arrivals", Type: TypeChoice, Default: ArrivalsPoisson, Values: arrivals(), Workload: true,
			Help: "spacing of the sends; uniform lets the groups take turns, the others pick one at random"},
		{Name: "traffic.group.burst", Type: TypeInteger, Unit: "messages", Default: "10", Min: "1", Max: "100000", Workload: true,
			Help: "sends at once, every burst/rate; for burst arrivals"},
		{Name: "traffic.group.bytes", Type: TypeBytes, Default: "200", Min: "1", Max: "64KiB", Workload: true,
			Help: "size of a message body"},
		{Name: "traffic.group.senders", Type: TypeChoice, Default: SendersRandom, Values: []string{SendersRandom, SendersFixed}, Workload: true,
			Help: "who sends: any online member, or always the first one"},
		{Name: "traffic.direct.rate", Type: TypeRate, Unit: "messages", Default: "20/s", Above: "0/s", Max: "1000000/s", Workload: true,
			Help: "sends to single users, over all users"},
		{Name: "traffic.direct.arrivals", Type: TypeChoice, Default: ArrivalsPoisson, Values: arrivals(), Workload: true,
			Help: "spacing of the sends"},
		{Name: "traffic.direct.burst", Type: TypeInteger, Unit: "messages", Default: "10", Min: "1", Max: "100000", Workload: true,
			Help: "sends at once, every burst/rate; for burst arrivals"},
		{Name: "traffic.direct.bytes", Type: TypeBytes, Default: "200", Min: "1", Max: "64KiB", Workload: true,
			Help: "size of a message body"},
		{Name: "traffic.direct.senders", Type: TypeChoice, Default: SendersRandom, Values: []string{SendersRandom, SendersFixed}, Workload: true,
			Help: "who sends: any online user, or always the first one"},
		{Name: "traffic.login.rate", Type: TypeRate, Unit: "logins", Default: "20/s", Above: "0/s", Max: "1000000/s", Workload: true,
			Help: "logins of users that were offline, each once, from the start of measure on"},
		{Name: "traffic.login.arrivals", Type: TypeChoice, Default: ArrivalsPoisson, Values: arrivals(), Workload: true,
			Help: "spacing of the logins"},
		{Name: "traffic.login.burst", Type: TypeInteger, Unit: "logins", Default: "10", Min: "1", Max: "100000", Workload: true,
			Help: "logins at once, every burst/rate; for burst arrivals"},
		{Name: "traffic.open", Type: TypePlanned},
	}
}

func arrivals() []string { return []string{ArrivalsUniform, ArrivalsPoisson, ArrivalsBurst} }
