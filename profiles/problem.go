package profiles

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Pos is where a value comes from: a place in a file, or a flag.
type Pos struct {
	File string
	Line int // from 1; 0 is the file as a whole
	Col  int // from 1, in characters
	Flag string
}

// String gives FILE:LINE:COL, or the flag.
func (p Pos) String() string {
	switch {
	case p.Flag != "":
		return p.Flag
	case p.Line == 0:
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// Problem is one thing that is wrong with a profile.
type Problem struct {
	Pos   Pos
	What  string // what is wrong
	Right string // what would be right
}

// Error gives POS: what is wrong; what would be right.
func (p Problem) Error() string { return p.Pos.String() + ": " + p.What + "; " + p.Right }

// Problems is everything that is wrong, in the order of the file, flags last.
// It is the error of Parse, Load and Resolve for a profile that can't be used.
type Problems []Problem

// Error gives a line for each problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// asError sorts, drops repetitions and gives nil for none, so that an empty
// Problems never becomes an error that isn't nil.
func (ps Problems) asError() error {
	if len(ps) == 0 {
		return nil
	}
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Pos.Flag, b.Pos.Flag), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col), cmp.Compare(a.What, b.What))
	})
	return slices.CompactFunc(ps, func(a, b Problem) bool { return a == b })
}
