package server

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

const (
	helpWidth  = 80
	helpColumn = 30 // where explanations begin
)

// writeSettings prints settings by group, wrapped.
func writeSettings(w io.Writer, fs *pflag.FlagSet, settings []setting) {
	group := ""
	for _, s := range settings {
		if s.group != group {
			group = s.group
			fmt.Fprintf(w, "\n%s\n", group)
		}
		head := "  --" + s.name
		if s.arg != "" {
			head += " " + s.arg
		}
		help := s.help
		if def := fs.Lookup(s.name).DefValue; def != "" && def != "false" && !s.secret {
			help += " (default " + def + ")"
		}
		lines := wrap(help, helpWidth-helpColumn)
		if len(head) >= helpColumn-1 {
			fmt.Fprintln(w, head)
			head = ""
		}
		for _, line := range lines {
			fmt.Fprintf(w, "%-*s%s\n", helpColumn, head, line)
			head = ""
		}
	}
}

// wrap breaks text at spaces into lines of at most width bytes.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// envName is the environment variable of a flag.
func envName(flag string) string {
	return "ACKMARK_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// applyEnv sets the flags that weren't given on the command line from the
// environment. An empty variable counts as not set.
func applyEnv(fs *pflag.FlagSet, lookup func(string) (string, bool)) error {
	var err error
	fs.VisitAll(func(f *pflag.Flag) {
		v, ok := lookup(envName(f.Name))
		if err != nil || f.Changed || !ok || v == "" || f.Name == "help" {
			return
		}
		if e := fs.Set(f.Name, v); e != nil {
			err = fmt.Errorf("%s: %w", envName(f.Name), e)
		}
	})
	return err
}
