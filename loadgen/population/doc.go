// Package population says who exists in a run: users, groups and their
// members, friends, and who is online. It is pure: the same profile and seed
// give the same population, whatever the variant and the run's tag, and
// nothing is contacted. It may import profiles and nothing else of ours.
package population
