package cli

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ackmark/results"
)

// reportOptions are the flags of report.
type reportOptions struct {
	format string
	schema string
	out    string
}

func reportFormats() []string { return []string{"text", "markdown", "csv", "json"} }

func (a *app) reportCommand() *cobra.Command {
	var o reportOptions
	cmd := &cobra.Command{
		Use:   "report RESULT",
		Short: "show a result again: table, Markdown, CSV or JSON",
		Long: "Shows what was measured earlier: a result file of this or an older version, or a\n" +
			"directory that holds one. It is no gate: the exit code is 0 when the result was\n" +
			"shown, whatever its verdict, 2 when RESULT can't be read or a flag is wrong, and\n" +
			"5 when it couldn't be written. As JSON it converts between versions of the\n" +
			"format; what an older one can't hold is said on stderr.",
		Example: "  loadgen report results/runs/20260102T030405Z-smoke\n" +
			"  loadgen report old/result.json --format markdown --out old.md\n" +
			"  loadgen report new/result.json --format json --schema v1 > for-old-tools.json",
		Args: oneArg("a result"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.report(args[0], &o, cmd.Flags().Changed("schema"))
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.format, "format", "text", "`FORMAT` to show it in: "+strings.Join(reportFormats(), ", "))
	f.StringVar(&o.schema, "schema", "", "write JSON in format `VERSION` instead of the newest: "+strings.Join(schemaNames(), ", "))
	f.StringVar(&o.out, "out", "", "write to `FILE` instead of stdout, over what is there")
	return cmd
}

func (a *app) report(path string, o *reportOptions, schemaGiven bool) error {
	if !slices.Contains(reportFormats(), o.format) {
		return usagef("--format %q: it should be one of %s", o.format, strings.Join(reportFormats(), ", "))
	}
	schema := results.SchemaCurrent
	if schemaGiven {
		i := slices.Index(schemaNames(), o.schema)
		switch {
		case i < 0:
			return usagef("--schema %q: there is no such format; it should be one of %s", o.schema, strings.Join(schemaNames(), ", "))
		case o.format != "json":
			return usagef("--schema is for --format json, not %s", o.format)
		}
		schema = results.Schemas()[i]
	}
	if err := checkOut(o.out); err != nil {
		return err
	}
	if err := spare(o.out, path, filepath.Join(path, results.FileName)); err != nil {
		return err
	}
	result, err := results.Read(path)
	if err != nil {
		return usage(err)
	}
	if result.Sweep != nil {
		fmt.Fprintf(a.Err, "note: these are the runs of a sweep; \"loadgen sweep --resume DIR\" shows its points again, and what it recommends\n")
	}
	b, err := a.drawn(result, schema, o)
	if err != nil {
		return &failure{results.ExitCouldNotRun, err}
	}
	if o.out == "" {
		return a.print(string(b))
	}
	if err := results.WriteFile(o.out, b); err != nil {
		return &failure{results.ExitCouldNotRun, err}
	}
	return nil
}

// drawn is the result in the format that was asked for.
func (a *app) drawn(result *results.Result, schema string, o *reportOptions) ([]byte, error) {
	if o.format == "json" {
		b, leftOut, err := results.EncodeAs(result, schema)
		for _, what := range leftOut {
			fmt.Fprintf(a.Err, "note: %s can't hold %s\n", o.schema, what)
		}
		return b, err
	}
	var b bytes.Buffer
	report := results.NewReport(result)
	switch o.format {
	case "markdown":
		err := results.RenderMarkdown(&b, report)
		return b.Bytes(), err
	case "csv":
		err := results.RenderCSV(&b, report)
		return b.Bytes(), err
	}
	text := results.TextOptions{}
	if o.out == "" {
		text = a.textOptions()
	}
	err := results.RenderText(&b, report, text)
	return b.Bytes(), err
}

// schemaNames are the formats as a user writes them: v1, v2.
func schemaNames() []string {
	var names []string
	for _, id := range results.Schemas() {
		names = append(names, id[strings.LastIndexByte(id, '/')+1:])
	}
	return names
}
