package population

// Population is who exists. Users are known by their index, 0 … len(Users)-1.
//
// Conversations have an index too: 0 … len(Groups)-1 are the groups, and
// len(Groups)+u is the inbox of user u.
type Population struct {
	Users     []string // wire ids, which carry the run's tag
	Groups    []Group
	Online    []bool // by user: connected from the start
	Friends   int    // friends per user that has any, see Friend
	FriendsOf int    // how many users have friends, the first ones; 0: all

	order []int // order[i] is the user at place i of the ring of friends
	place []int // the inverse of order
}

// Group is one group.
type Group struct {
	ID      string // wire id, carries the run's tag
	Members []int  // user indexes, ascending
	Online  []int  // those members that are online from the start, ascending; never empty where there is traffic to groups
}
