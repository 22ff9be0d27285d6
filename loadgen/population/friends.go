package population

// HasFriends tells whether a user has a friend list.
func (p *Population) HasFriends(user int) bool {
	return p.Friends > 0 && (p.FriendsOf == 0 || user < p.FriendsOf)
}

// Friend gives friend k of a user that HasFriends, 0 ≤ k < Friends. Nothing is
// stored per friendship, so 10,000 friends for each of 100,000 users cost no
// memory.
//
// Where everybody has friends, friendship is mutual: the users stand in a ring
// in random order, and the friends are the nearest on both sides (and, where
// the number is odd, the one opposite). Where only the first FriendsOf have,
// it goes one way: the friends of u are the next Friends users, u+1 … u+Friends,
// round the end of the list.
func (p *Population) Friend(user, k int) int {
	if p.FriendsOf > 0 {
		return (user + 1 + k) % len(p.Users)
	}
	n, at := len(p.order), p.place[user]
	step := k/2 + 1
	switch {
	case k == p.Friends-1 && k%2 == 0: // an odd number: the last one has no pair
		step = n / 2
	case k%2 == 1:
		step = n - step
	}
	return p.order[(at+step)%n]
}

// Addressees is the number of users that have a user as a friend, to whom it
// may write: Friends where friendship is mutual.
func (p *Population) Addressees(user int) int {
	switch {
	case p.Friends == 0:
		return 0
	case p.FriendsOf == 0:
		return p.Friends
	}
	_, before, _, after := p.listing(user)
	return before + after
}

// Addressee gives addressee k of a user, 0 ≤ k < Addressees(user).
func (p *Population) Addressee(user, k int) int {
	if p.FriendsOf == 0 {
		return p.Friend(user, k)
	}
	first, before, last, _ := p.listing(user)
	if k < before {
		return first + k
	}
	return last + k - before
}

// listing gives the users that have a user as a one-way friend, which are those
// of the Friends users before it that have a list: before users from first on,
// and after users from last on, which lie before it round the end of the list.
func (p *Population) listing(user int) (first, before, last, after int) {
	n := len(p.Users)
	first, last = max(0, user-p.Friends), n+min(0, user-p.Friends)
	return first, max(0, min(user, p.FriendsOf)-first), last, max(0, p.FriendsOf-last)
}
