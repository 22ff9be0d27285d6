package profiles

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

//go:embed *.yaml
var shipped embed.FS

// Info is one line of the list of shipped profiles.
type Info struct {
	Name     string
	About    string // the whole text; its first line says the question
	Variants int    // measured settings, 1 where the profile has no variants
	Repeats  int
}

// List gives the shipped profiles, sorted by name.
func List() []Info {
	var out []Info
	for _, name := range names() {
		s, err := Load(name)
		if err != nil {
			continue // a test checks that they all load
		}
		settings, err := s.Resolve(nil)
		if err != nil {
			continue
		}
		out = append(out, Info{Name: name, About: s.About(), Variants: len(settings), Repeats: settings[0].Profile.Repeats})
	}
	return out
}

func names() []string {
	files, _ := fs.Glob(shipped, "*.yaml") // the pattern is a constant
	for i := range files {
		files[i] = strings.TrimSuffix(files[i], ".yaml")
	}
	slices.Sort(files)
	return files
}

// Load reads a shipped profile by its name, or a file by its path. A path has
// a slash or ends in .yaml or .yml; anything else is a name. The error is
// Problems for a profile that is wrong, and says what there is for a name or
// path that isn't there.
func Load(nameOrPath string) (*Source, error) {
	if strings.ContainsAny(nameOrPath, `/\`) || strings.HasSuffix(nameOrPath, ".yaml") || strings.HasSuffix(nameOrPath, ".yml") {
		return loadFile(nameOrPath)
	}
	b, err := shipped.ReadFile(nameOrPath + ".yaml")
	if err != nil {
		right := "shipped: " + strings.Join(names(), ", ")
		if n := nearest(nameOrPath, names()); n != "" {
			right = "did you mean " + n + "? " + right
		}
		return nil, fmt.Errorf("no profile is called %q; %s; a file of your own is given by path, e.g. ./mine.yaml", nameOrPath, right)
	}
	return Parse(nameOrPath+".yaml", b)
}

func loadFile(path string) (*Source, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file; a path to a profile, or one of the shipped: %s", path, strings.Join(names(), ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("reading the profile: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading the profile: %w", err)
	}
	return Parse(path, b)
}
