package server

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// choice is a flag that takes one of a few words.
type choice[T ~string] struct {
	p  *T
	of []T
}

func (c choice[T]) Set(v string) error {
	if err := checkChoice(T(v), c.of); err != nil {
		return err
	}
	*c.p = T(v)
	return nil
}

func (c choice[T]) String() string {
	if c.p == nil { // pflag asks a zero value for its default
		return ""
	}
	return string(*c.p)
}

// Type is what pflag prints for the value.
func (c choice[T]) Type() string { return "WORD" }

func checkChoice[T ~string](v T, of []T) error {
	words := make([]string, len(of))
	for i, w := range of {
		if v == w {
			return nil
		}
		words[i] = string(w)
	}
	last := len(words) - 1
	return fmt.Errorf("%s or %s is right", strings.Join(words[:last], ", "), words[last])
}

func oneOf[T ~string](p *T, of []T) func(*pflag.FlagSet, string, string) {
	return func(fs *pflag.FlagSet, name, usage string) { fs.Var(choice[T]{p, of}, name, usage) }
}

// unless is a flag that takes on or off, and says the opposite of what it sets.
type unless struct{ off *bool }

func (u unless) Set(v string) error {
	if err := checkChoice(v, []string{"on", "off"}); err != nil {
		return err
	}
	*u.off = v == "off"
	return nil
}

func (u unless) String() string {
	if u.off != nil && *u.off {
		return "off"
	}
	return "on"
}

// Type is what pflag prints for the value.
func (u unless) Type() string { return "on|off" }

func onUnless(off *bool) func(*pflag.FlagSet, string, string) {
	return func(fs *pflag.FlagSet, name, usage string) { fs.Var(unless{off}, name, usage) }
}
