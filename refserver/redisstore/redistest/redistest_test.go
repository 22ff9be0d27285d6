package redistest

import (
	"context"
	"os"
	"reflect"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAOFEntries(t *testing.T) {
	set := "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n"
	del := "*2\r\n$3\r\nDEL\r\n$1\r\na\r\n"
	multi, exec := "*1\r\n$5\r\nMULTI\r\n", "*1\r\n$4\r\nEXEC\r\n"
	for _, c := range []struct {
		name, file string
		want       []int
		fails      bool
	}{
		{name: "empty"},
		{name: "commands", file: set + del, want: []int{len(set), len(set + del)}},
		{name: "what a script wrote is one entry", file: set + multi + set + del + exec + del,
			want: []int{len(set), len(set + multi + set + del + exec), len(set + multi + set + del + exec + del)}},
		{name: "comment", file: "#TS:1\r\n" + set, want: []int{7, 7 + len(set)}},
		{name: "half an argument", file: set + "*1\r\n$5\r\nMU", fails: true},
		{name: "no number", file: "*x\r\n", fails: true},
		{name: "other kind", file: "+OK\r\n", fails: true},
		{name: "no line", file: "*1", fails: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := aofEntries([]byte(c.file))
			if (err != nil) != c.fails || !c.fails && !reflect.DeepEqual(got, c.want) {
				t.Fatalf("%v, %v; want %v", got, err, c.want)
			}
		})
	}
}

func FuzzAOFEntries(f *testing.F) {
	f.Add([]byte("*1\r\n$4\r\nPING\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		ends, err := aofEntries(b)
		for i, end := range ends {
			if end > len(b) || i > 0 && end <= ends[i-1] {
				t.Fatalf("%v of %d bytes, %v", ends, len(b), err)
			}
		}
	})
}

func TestCrash(t *testing.T) {
	ctx := context.Background()
	r := Start(t, AOF("always"))
	for i, key := range []string{"a", "b", "c"} {
		if err := r.Client().Set(ctx, key, i, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if n := r.CommandStats()["set"]; n != 3 {
		t.Fatalf("%d SET counted, want 3", n)
	}
	r.Kill()
	if n := r.CutAOF(1); n != 1 {
		t.Fatalf("%d entries cut, want 1", n)
	}
	r.Restart()
	if n, err := r.Client().Exists(ctx, "a", "b", "c").Result(); n != 2 || err != nil {
		t.Fatalf("%d keys (%v), want 2: the last is cut", n, err)
	}
	r.Kill()
	r.CutAOFBytes(3)
	r.Restart()
	if n, err := r.Client().Exists(ctx, "a", "b", "c").Result(); n != 1 || err != nil {
		t.Fatalf("%d keys (%v), want 1: half an entry counts as none", n, err)
	}
	r.Stop()
	r.Stop()
	if r.PID() != 0 {
		t.Fatal("still there")
	}
}

func TestMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("CI", "")
	skipped := false
	t.Run("skips", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		find(t)
	})
	if !skipped {
		t.Fatal("a machine without redis-server has to skip")
	}
}

func TestDirectoryGoes(t *testing.T) {
	var dir string
	t.Run("", func(t *testing.T) { dir = Start(t).dir })
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Fatalf("%s is left (%v)", dir, err)
	}
}
