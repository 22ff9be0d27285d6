package results

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	r, rules := troubled(t)
	r.Runs[2].Histograms["page"] = histogramOf(t, 5, 80, 12_000)
	Judge(r, rules)
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	for range 2 { // the second replaces the first
		if err := Write(path, r); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, r.normalized()) {
		t.Error("what is read is not what was written")
	}
	h, err := got.Runs[2].Histograms["page"].Decode()
	if err != nil || h.TotalCount() != 3 || h.ValueAtPercentile(50) != 80 {
		t.Errorf("the histogram didn't survive: %v", err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}

func TestWriteRefusesWhatIsWrong(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Result)
		want   string
	}{
		"metric":     {func(r *Result) { r.Runs[0].Metrics.Set("losst", 1) }, `runs[0] (each, repeat 1): metric "losst" is not in the registry`},
		"histogram":  {func(r *Result) { r.Runs[0].Histograms["alive"] = Histogram{} }, `histogram "alive" is not in the registry`},
		"order":      {func(r *Result) { r.Runs[0].Histograms["live"] = figures(100, 50, 60) }, "histogram live: p99 is 50, less than p90, which is 100"},
		"0 for null": {func(r *Result) { r.Runs[0].Histograms["live"] = Histogram{P50: Count(0)} }, "p50 is 0 though nothing was recorded; should be null"},
		"overflow":   {func(r *Result) { r.Runs[0].Histograms["live"] = Histogram{Overflow: 2} }, "count is 0 with an overflow of 2"},
		"series":     {func(r *Result) { r.Runs[0].Series.Points["sends"] = []*float64{nil} }, "series sends has 1 points, others have 3"},
		"twice":      {func(r *Result) { r.Runs[1] = r.Runs[0] }, "another run of this variant and repeat"},
		"phase":      {func(r *Result) { r.Runs[0].Phases[3].EndMs = 1 }, "phase measure ends at 1 ms"},
		"times":      {func(r *Result) { r.Ended = r.Started.Add(-1) }, "before it started"},
		"number":     {func(r *Result) { r.Runs[0].Number, r.Runs[3].Number = 7, 7 }, "runs[3] (10 or 500ms, repeat 1): there is another run with number 7"},
		"variant":    {func(r *Result) { r.Variants[1].Name = r.Variants[0].Name }, `variants[1]: there is another variant "each"`},
		"no axis":    {func(r *Result) { r.Sweep = &Sweep{} }, "sweep.vary is empty"},
		"no key":     {func(r *Result) { r.Sweep = sweepOf(Axis{Values: []string{"1"}}) }, "sweep.vary[0] has no key"},
		"no values":  {func(r *Result) { r.Sweep = sweepOf(Axis{Key: "seed"}) }, "sweep.vary[0] (seed) has no values"},
		"one axis":   {func(r *Result) { r.Sweep = sweepOf(Axis{"seed", []string{"1"}}, Axis{"seed", []string{"2"}}) }, "sweep.vary[1] (seed): there is another axis"},
		"one value":  {func(r *Result) { r.Sweep = sweepOf(Axis{"seed", []string{"1", "2", "1"}}) }, `sweep.vary[0] (seed) has "1" twice`},
		"hash":       {func(r *Result) { r.Environment.Cores = 64 }, "environment.hash is not that of the facts"},
	} {
		t.Run(name, func(t *testing.T) {
			r, rules := storm(t)
			Judge(r, rules)
			tc.change(r)
			path := filepath.Join(t.TempDir(), FileName)
			if err := Write(path, r); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if _, err := os.Stat(path); err == nil {
				t.Error("written all the same")
			}
		})
	}
}

func sweepOf(axes ...Axis) *Sweep { return &Sweep{Vary: axes} }

func TestDecodeRefuses(t *testing.T) {
	good, err := Encode(minimal())
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ in, want string }{
		"empty":           {"", "the file is empty"},
		"blank":           {" \n", "the file is empty"},
		"no JSON":         {"{\n\"schema\": x}", "line 2: not a result"},
		"cut off":         {string(good[:len(good)/2]), "not a result"},
		"other JSON":      {"{}", `no "schema": not a result of loadgen`},
		"later version":   {`{"schema": "ackmark/result/v9", "more": 1}`, `schema "ackmark/result/v9" is not known; this version reads and writes ackmark/result/v1, ackmark/result/v2`},
		"unknown key":     {strings.Replace(string(good), `"tool_version"`, `"tool"`, 1), `unknown field "tool"`},
		"wrong type":      {strings.Replace(string(good), `"interrupted": false`, `"interrupted": 3`, 1), "line 6: not a result"},
		"trailing data":   {string(good) + "{}", "not a result"},
		"edited facts":    {strings.Replace(string(good), `"cores": 0`, `"cores": 3`, 1), "environment.hash"},
		"schema a number": {`{"schema": 1}`, "not a result"},
	} {
		if _, err := Decode([]byte(tc.in)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
	}
}

func TestFileErrors(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "no", FileName)
	if err := Write(missing, minimal()); err == nil || err.Error() != "writing "+missing+": the directory doesn't exist" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing directory: %v", err)
	}
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), FileName) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("directory without a result: %v", err)
	}
	full := explainWrite("runs/result.json", 20_000, &fs.PathError{Op: "write", Path: "runs/.result.json.1", Err: syscall.ENOSPC})
	if !errors.Is(full, syscall.ENOSPC) || full.Error() != "writing runs/result.json: the disk is full: 20 KiB are needed; free some, or choose another directory with --out" {
		t.Errorf("full disk: %v", full)
	}
}

// A target that can't be replaced must leave no temporary file.
func TestWriteLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	if err := os.MkdirAll(filepath.Join(path, "occupied"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, minimal()); err == nil {
		t.Error("a directory was overwritten")
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}

// A link stays a link, and a device or pipe is written into: renaming over
// /dev/null would take it from the whole machine.
func TestWriteFileGoesWhereThePathLeads(t *testing.T) {
	dir := t.TempDir()
	target, link, pipe := filepath.Join(dir, "target"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.WriteFile(target, []byte("before"), 0o644), os.Symlink("target", link), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(link, []byte("after")); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(target); string(got) != "after" {
		t.Errorf("the link's target has %q", got)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Error("the link is gone")
	}
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0) // so that nobody waits for the other side
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := WriteFile(pipe, []byte("through")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len("through"))
	if _, err := io.ReadFull(reader, got); err != nil || string(got) != "through" {
		t.Errorf("read %q, %v", got, err)
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode().Type() != fs.ModeNamedPipe {
		t.Error("the pipe is gone")
	}
	if files, _ := os.ReadDir(dir); len(files) != 3 {
		t.Errorf("left behind: %v", files)
	}
}

func FuzzDecode(f *testing.F) {
	bare, err := Encode(minimal())
	if err != nil {
		f.Fatal(err)
	}
	r, rules := storm(f)
	r.Runs = r.Runs[:1]
	Judge(r, rules)
	full, err := Encode(r)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bare)
	f.Add(full)
	f.Add([]byte(`{"schema":"ackmark/result/v1","runs":[{}]}`))
	old, _, err := EncodeAs(r, SchemaV1)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(old)
	f.Add(stored(f, "result-v1.json"))
	f.Add(stored(f, "result-v2.json"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := Decode(in)
		if err != nil {
			return
		}
		out, err := Encode(r)
		if err != nil {
			t.Fatalf("read but not written: %v", err)
		}
		again, err := Decode(out)
		r.Schema = SchemaCurrent // whatever it was read from
		if err != nil || !reflect.DeepEqual(r, again) {
			t.Fatalf("not the same after writing and reading: %v", err)
		}
		var b bytes.Buffer
		if err := RenderText(&b, NewReport(r), TextOptions{}); err != nil {
			t.Fatal(err)
		}
	})
}

// What may never end isn't read.
func TestReadOnlyFiles(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), FileName)
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/dev/zero", pipe, filepath.Dir(pipe)} {
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
