package profiles

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares with a file of testdata, or writes it.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs:\n--- got\n%s--- want\n%s", file, got, want)
	}
}

// Every bad profile of testdata/errors gives the problems of its .golden file,
// all at once, each with its position and with what would be right.
func TestErrors(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no inputs: %v", err)
	}
	line := regexp.MustCompile(`^[a-z_]+\.yaml:\d+:\d+: [^;]+; .+$`)
	for _, file := range files {
		base := filepath.Base(file)
		t.Run(strings.TrimSuffix(base, ".yaml"), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Parse(base, b)
			var problems Problems
			if !errors.As(err, &problems) {
				t.Fatalf("error %v, want Problems", err)
			}
			for _, p := range problems {
				if !line.MatchString(p.Error()) {
					t.Errorf("%q isn't FILE:LINE:COL: what is wrong; what would be right", p.Error())
				}
			}
			golden(t, strings.TrimSuffix(file, ".yaml")+".golden", err.Error()+"\n")
		})
	}
}
