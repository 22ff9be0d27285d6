package redistest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// CutAOF cuts the last entries off the append-only file of a server that
// doesn't run, as a power cut does to what wasn't on the disk yet. An entry is
// one command, or everything that a script wrote (MULTI … EXEC). It returns how
// many were cut.
func (r *Redis) CutAOF(entries int) int {
	r.tb.Helper()
	name, content := r.aof()
	ends, err := aofEntries(content)
	if err != nil {
		r.tb.Fatalf("redistest: %s: %v", name, err)
	}
	cut := min(entries, len(ends)-1) // the first one selects the database
	if cut <= 0 {
		return 0
	}
	r.truncate(name, int64(ends[len(ends)-1-cut]))
	return cut
}

// CutAOFBytes cuts the last bytes, which may leave half an entry: Redis drops it.
func (r *Redis) CutAOFBytes(n int) {
	r.tb.Helper()
	name, content := r.aof()
	r.truncate(name, int64(max(0, len(content)-n)))
}

func (r *Redis) truncate(name string, size int64) {
	r.tb.Helper()
	if err := os.Truncate(name, size); err != nil {
		r.tb.Fatalf("redistest: %v", err)
	}
}

// aof returns the file that Redis appends to.
func (r *Redis) aof() (name string, content []byte) {
	r.tb.Helper()
	if r.PID() != 0 {
		r.tb.Fatal("redistest: the append-only file of a running server can't be cut; Kill it first")
	}
	files, err := filepath.Glob(filepath.Join(r.dir, "appendonlydir", "*.incr.aof"))
	if err != nil || len(files) != 1 {
		r.tb.Fatalf("redistest: want one incremental append-only file, there are %d (%v); start with AOF", len(files), err)
	}
	if content, err = os.ReadFile(files[0]); err != nil {
		r.tb.Fatalf("redistest: %v", err)
	}
	return files[0], content
}

// aofEntries returns where each entry ends.
func aofEntries(b []byte) (ends []int, err error) {
	inside := false // MULTI … EXEC
	for at := 0; at < len(b); {
		name, n, err := aofCommand(b[at:])
		if err != nil {
			return nil, fmt.Errorf("byte %d: %w", at, err)
		}
		at += n
		switch {
		case bytes.EqualFold(name, []byte("MULTI")):
			inside = true
		case bytes.EqualFold(name, []byte("EXEC")):
			inside = false
			ends = append(ends, at)
		case !inside:
			ends = append(ends, at)
		}
	}
	return ends, nil
}

// aofCommand reads one command, or a comment, and returns its name and length.
func aofCommand(b []byte) (name []byte, n int, err error) {
	line, n, err := aofLine(b)
	if err != nil {
		return nil, 0, err
	}
	if line[0] == '#' { // #TS:… of aof-timestamp-enabled
		return line, n, nil
	}
	args, err := aofNumber(line, '*')
	if err != nil {
		return nil, 0, err
	}
	for i := range args {
		line, m, err := aofLine(b[n:])
		if err != nil {
			return nil, 0, err
		}
		size, err := aofNumber(line, '$')
		if err != nil {
			return nil, 0, err
		}
		n += m
		if size < 0 || n+size+2 > len(b) {
			return nil, 0, fmt.Errorf("an argument of %d bytes is cut off", size)
		}
		if i == 0 {
			name = b[n : n+size]
		}
		n += size + 2
	}
	return name, n, nil
}

func aofLine(b []byte) (line []byte, n int, err error) {
	end := bytes.Index(b, []byte("\r\n"))
	if end < 1 {
		return nil, 0, fmt.Errorf("no line")
	}
	return b[:end], end + 2, nil
}

func aofNumber(line []byte, kind byte) (int, error) {
	if line[0] != kind {
		return 0, fmt.Errorf("%q: want %c and a number", line, kind)
	}
	return strconv.Atoi(string(line[1:]))
}
