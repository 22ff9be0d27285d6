package results

// ExitCode is what a loadgen command ends with; the codes are the same for
// every command.
type ExitCode int

// The exit codes.
const (
	ExitPass         ExitCode = 0
	ExitFail         ExitCode = 1   // a threshold or gate failed
	ExitUsage        ExitCode = 2   // usage or profile
	ExitInvalid      ExitCode = 3   // the measurement can't be trusted
	ExitInconclusive ExitCode = 4   // the repeats don't decide
	ExitCouldNotRun  ExitCode = 5   // infrastructure: no Redis, no ports, the server didn't start
	ExitInterrupted  ExitCode = 130 // what was measured so far is written
)

// Exit returns the code of a status. A status that is none of the four is
// invalid: an unjudged result never passes.
func (s Status) Exit() ExitCode {
	switch s {
	case Pass:
		return ExitPass
	case Fail:
		return ExitFail
	case Inconclusive:
		return ExitInconclusive
	}
	return ExitInvalid
}

// Meaning returns what a code says, for --help and for log lines.
func (c ExitCode) Meaning() string {
	switch c {
	case ExitPass:
		return "pass"
	case ExitFail:
		return "a threshold or gate failed"
	case ExitUsage:
		return "usage or profile is wrong"
	case ExitInvalid:
		return "the measurement can't be trusted"
	case ExitInconclusive:
		return "inconclusive"
	case ExitCouldNotRun:
		return "could not run"
	case ExitInterrupted:
		return "interrupted"
	}
	return "unknown"
}

// ExitCodes returns all codes in ascending order.
func ExitCodes() []ExitCode {
	return []ExitCode{ExitPass, ExitFail, ExitUsage, ExitInvalid, ExitInconclusive, ExitCouldNotRun, ExitInterrupted}
}
