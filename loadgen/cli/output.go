package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ackmark/loadgen/engine"
	"ackmark/loadgen/measure"
	"ackmark/results"
)

// output is the directory of one measurement.
type output struct {
	path string
	made []string // directories that were made for it, the deepest last
}

// newOutput makes the directory before anything is measured, so that one that
// can't be written is found while it costs nothing. One that exists is refused:
// a measurement never overwrites another.
func newOutput(path, profile string, now time.Time) (*output, error) {
	given := path != ""
	if !given {
		path = filepath.Join("results", "runs", now.UTC().Format("20060102T150405Z")+"-"+profile)
	}
	for n := 2; ; n++ {
		o := &output{path: path}
		err := o.make()
		switch {
		case err == nil:
			return o, nil
		case !errors.Is(err, fs.ErrExist):
			return nil, &failure{results.ExitCouldNotRun, fmt.Errorf("making the output directory: %w; choose another with --out", err)}
		case given:
			return nil, usagef("--out %s exists already, and a measurement never overwrites another; name a new directory", path)
		}
		base := strings.TrimSuffix(path, fmt.Sprintf("-%d", n-1))
		path = fmt.Sprintf("%s-%d", base, n) // two within one second
	}
}

func (o *output) make() error {
	var missing []string
	for dir := filepath.Dir(o.path); dir != "." && dir != string(filepath.Separator); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing = append(missing, dir)
	}
	if err := os.MkdirAll(filepath.Dir(o.path), 0o755); err != nil {
		return err
	}
	for i := len(missing) - 1; i >= 0; i-- {
		o.made = append(o.made, missing[i])
	}
	if err := os.Mkdir(o.path, 0o755); err != nil {
		return err
	}
	o.made = append(o.made, o.path)
	return nil
}

// abandon removes the directories again if nothing was put into them: logs of
// children stay.
func (o *output) abandon() error {
	for i := len(o.made) - 1; i >= 0; i-- {
		if err := os.Remove(o.made[i]); err != nil {
			break // not empty
		}
	}
	return nil
}

// histograms writes the .hlog file of one run.
func (o *output) histograms(h engine.RunHistograms) error {
	path := filepath.Join(o.path, fmt.Sprintf("run-%02d-%s-%d.hlog", h.Number, fileName(h.Variant), h.Repeat))
	return writeHistograms(path, h)
}

func writeHistograms(path string, h engine.RunHistograms) error {
	return writeFile(path, func(w io.Writer) error { return measure.WriteLog(w, h.Began, h.Entries) })
}

// fileName keeps what is harmless in a file's name.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' {
			return r
		}
		return '-'
	}, s)
}

// write writes result.json and the tables.
func (o *output) write(r *results.Result, rep results.Report) error {
	err := results.Write(filepath.Join(o.path, results.FileName), r)
	err = errors.Join(err, writeFile(filepath.Join(o.path, "table.md"), func(w io.Writer) error { return results.RenderMarkdown(w, rep) }))
	return errors.Join(err, writeFile(filepath.Join(o.path, "table.csv"), func(w io.Writer) error { return results.RenderCSV(w, rep) }))
}

func writeFile(path string, fill func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := errors.Join(fill(f), f.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
