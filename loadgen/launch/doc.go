// Package launch starts what a run needs and leaves nothing behind: a private
// Redis, the server as a child process, a directory for the run. It also
// checks, before anything starts, that the machine can carry the profile.
//
// How nothing is left behind:
//
//   - Launcher.Close stops every child (SIGTERM, then SIGKILL, by pid only),
//     purges the namespace on a Redis that was given, and removes the run
//     directory. It's meant for a defer and may be called any number of times.
//   - Children are in process groups of their own, so a terminal's Ctrl-C
//     reaches the generator alone, which then stops them in order.
//   - When the generator is killed outright, the kernel kills its children
//     (see forker), and the server also ends when its stdin closes.
//   - The run directory holds a file locked by the generator. The lock ends with
//     the process, however it ends, and the next run sweeps directories whose
//     lock can be taken.
//
// A private Redis and the server can be killed (kill -9) and started again on
// the same socket, port and data. CutTail takes what a power cut would take from
// the end of a killed Redis's append-only file, and says what that was.
//
// The package may start processes, open sockets and write below the temporary
// directory. It measures nothing (package measure does, from the pids given
// here) and knows nothing of profiles: the engine hands it plain options.
package launch
