package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print version, commit and Go version",
		Example: "  loadgen version",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.print(fmt.Sprintf("loadgen %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH))
		},
	}
}

// version is the module's version and, where known, the commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "devel"
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			v += " " + s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			v += " (modified)"
		}
	}
	return v
}
