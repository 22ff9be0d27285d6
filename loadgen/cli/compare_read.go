package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"ackmark/results"
)

// resultFiles are the file that a side is read from, or those of the directories
// inside it. Links are followed; what several lead to is read once.
func resultFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading result: %w", err)
	case !info.IsDir():
		return []string{path}, nil
	}
	if file := filepath.Join(path, results.FileName); exists(file) {
		return []string{file}, nil
	}
	inside, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("reading result: %w", err)
	}
	var files []string
	for _, d := range inside { // in the order of their names, which begin with the time
		file := filepath.Join(path, d.Name(), results.FileName)
		if exists(file) && !slices.ContainsFunc(files, func(other string) bool { return sameFile(file, other) }) {
			files = append(files, file)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s holds no %s, and none of the directories in it does; a result file or the directory of one is needed", path, results.FileName)
	}
	return files, nil
}

// exists tells whether there is something to read, be it that it can't be.
func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
}

func sameFile(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}

func readAll(files []string) ([]*results.Result, error) {
	var all []*results.Result
	for _, file := range files {
		r, err := results.Read(file)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// checkOut refuses a place where no file can be.
func checkOut(out string) error {
	if info, err := os.Stat(out); out != "" && err == nil && info.IsDir() {
		return usagef("--out %s is a directory; name a file", out)
	}
	return nil
}

// spare refuses to write over what is read: a measurement isn't lost for a view
// of it.
func spare(out string, inputs ...string) error {
	if out != "" && slices.ContainsFunc(inputs, func(in string) bool { return sameFile(out, in) }) {
		return usagef("--out %s is what is read; name another file", out)
	}
	return nil
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
