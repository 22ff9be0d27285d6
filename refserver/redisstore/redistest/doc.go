// Package redistest starts private Redis servers for the tests of all rooms.
//
// Each [Redis] is a redis-server child on a Unix socket in a directory of its
// own: no port, nothing shared, gone with the test, and killed by the kernel
// when the test process dies. It can be killed as by kill -9, lose the tail of
// its append-only file, and come back on the same directory, which is what a
// crash of a machine looks like to its clients.
//
// Where redis-server 7.0 or later isn't installed the test is skipped with a
// message that says what wasn't checked; under CI=true it fails, so that a
// pipeline can't be green without.
//
// The room may start processes and touch files below a temporary directory. It
// must not use a Redis that it didn't start.
package redistest
