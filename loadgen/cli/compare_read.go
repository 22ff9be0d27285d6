package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ackmark/results"
)

// readSide reads a result file, the result of a directory, or those of the
// directories inside it.
func readSide(path string) ([]*results.Result, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading result: %w", err)
	}
	if _, err := os.Stat(filepath.Join(path, results.FileName)); err == nil || !info.IsDir() {
		r, err := results.Read(path)
		if err != nil {
			return nil, err
		}
		return []*results.Result{r}, nil
	}
	inside, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("reading result: %w", err)
	}
	var all []*results.Result
	for _, d := range inside { // in the order of their names, which begin with the time
		file := filepath.Join(path, d.Name(), results.FileName)
		switch _, err := os.Stat(file); {
		case errors.Is(err, fs.ErrNotExist) || !d.IsDir():
			continue
		case err != nil:
			return nil, fmt.Errorf("reading result: %w", err)
		}
		r, err := results.Read(file)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s holds no %s, and none of the directories in it does; a result file or the directory of one is needed", path, results.FileName)
	}
	return all, nil
}

// sideLabels are the last elements of the paths, as many as tell them apart.
func sideLabels(paths []string) []string {
	elements := make([][]string, len(paths))
	most := 1
	for i, p := range paths {
		if abs, err := filepath.Abs(p); err == nil {
			p = abs
		}
		if filepath.Base(p) == results.FileName {
			p = filepath.Dir(p)
		}
		p = strings.TrimSuffix(p, ".json")
		elements[i] = strings.Split(strings.Trim(p, string(filepath.Separator)), string(filepath.Separator))
		most = max(most, len(elements[i]))
	}
	labels := make([]string, len(paths))
	for n := 1; n <= most; n++ {
		for i, e := range elements {
			labels[i] = strings.Join(e[max(0, len(e)-n):], "/")
		}
		if unique := slices.Compact(slices.Sorted(slices.Values(labels))); len(unique) == len(labels) {
			return labels
		}
	}
	for i := range labels { // the same path twice
		labels[i] = fmt.Sprintf("%s#%d", elements[i][len(elements[i])-1], i+1)
	}
	return labels
}
