//go:build race

package stub

// raceDetector tells whether the tests run under it: everything takes several
// times as long then, so times are measured once, to be run, and not judged.
const raceDetector = true
