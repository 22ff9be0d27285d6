package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ackmark/profiles"
	"ackmark/results"
	"ackmark/results/sweep"
)

// dryRun prints what would be measured.
func (a *app) dryRun(s *sweeping, o *sweepOptions) error {
	if o.json {
		b, err := s.plan.Encode()
		if err != nil {
			return &failure{results.ExitCouldNotRun, err}
		}
		return a.print(string(b))
	}
	var b strings.Builder
	again := s.plan.Again(s.kept)
	turns := append(s.plan.Missing(s.kept), again...)
	fmt.Fprintf(&b, "%s: %s × %s = %s", s.cfg.Source.Name(), sweep.Size(s.rows(), len(s.plan.Points)),
		results.Plural(s.plan.Repeats, "repeat"), results.Plural(len(s.plan.Turns()), "run"))
	if n := len(s.kept); n > 0 {
		fmt.Fprintf(&b, ", %d of them measured", n)
	}
	if n := len(again); n > 0 {
		fmt.Fprintf(&b, ", %d of those to be measured again, since this machine was too busy", n)
	}
	fmt.Fprintf(&b, ", about %s", roughly(s.timeLeft(turns)))
	if len(turns) > 0 {
		fmt.Fprintf(&b, ", and up to %s if this machine is too busy: a run is measured %d times at most",
			roughly(s.timeLeft(s.plan.AtMost(s.kept))), sweep.MostTries)
	}
	b.WriteByte('\n')
	for _, axis := range s.plan.Vary {
		fmt.Fprintf(&b, "%s: %s\n", axis.Key, strings.Join(axis.Values, ", "))
	}
	fmt.Fprintf(&b, "store: %s; seed of the order: %d\n", s.plan.Store, s.plan.Order)
	for i, p := range s.plan.Points {
		fmt.Fprintf(&b, "  %s%s\n", p.Name, s.done(i))
	}
	for _, left := range s.left {
		fmt.Fprintf(&b, "left out: %s\n", left.Error())
	}
	return a.print(b.String())
}

// done says how far a point of the plan is; "" where it isn't begun.
func (s *sweeping) done(point int) string {
	of := func(turns []sweep.Turn) int {
		return len(slices.DeleteFunc(turns, func(t sweep.Turn) bool { return t.Point != point }))
	}
	inVain, again := of(s.plan.InVain(s.kept)), of(s.plan.Again(s.kept))
	measured := s.plan.Repeats - of(s.plan.Missing(s.kept))
	text := ""
	switch {
	case measured == 0:
		return ""
	case measured-again == s.plan.Repeats:
		text = ": done"
	default:
		text = fmt.Sprintf(": %d of %s done", measured-again, results.Plural(s.plan.Repeats, "run"))
	}
	if again > 0 {
		text += fmt.Sprintf(", %d to be measured again", again)
	}
	if n := inVain - again; n > 0 {
		text += fmt.Sprintf(", %d of them in vain", n)
	}
	return text
}

// rows is how many points the table will have: a crash variant shares the row of
// what it is with crashes, where that is measured, too.
func (s *sweeping) rows() int {
	all := len(s.cfg.Settings)
	for _, set := range s.cfg.Settings {
		if set.CrashOf != "" && slices.ContainsFunc(s.cfg.Settings, func(of profiles.Setting) bool { return of.Name == set.CrashOf }) {
			all--
		}
	}
	return all
}

// roughly writes a length of time for people who wait.
func roughly(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%.0fs", d.Seconds())
	case d < 90*time.Minute:
		return fmt.Sprintf("%.0fm", d.Minutes())
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}
