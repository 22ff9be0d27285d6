package launch

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Entry is one entry of an append-only file: a command, or all commands that
// one script or transaction wrote. Each command is its arguments, the name first.
type Entry [][][]byte

// CutTail cuts the end off the append-only file of a private Redis that was
// killed, as a power cut or a failover does to what was on no disk yet. The cut
// lies before the n-th last entry that counts, so that n of those are gone, and
// with them everything that was written after the first of them. It returns
// the ones that count, oldest first, and how many others went too. Fewer than n
// are cut where the newest file of a rewritten log holds no more.
func (r *Redis) CutTail(n int, counts func(Entry) bool) (cut []Entry, others int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fail := func(err error) ([]Entry, int, error) {
		return nil, 0, fmt.Errorf("cutting the tail of the %s Redis's append-only file: %w", r.kind, err)
	}
	c := r.lives.current()
	switch {
	case c == nil:
		return fail(ErrNotOurs)
	case c.alive():
		return fail(fmt.Errorf("it still runs (pid %d); kill it first", c.pid()))
	case r.opts.Fsync == FsyncOff:
		return fail(errors.New("it has none; set redis.fsync to everysec or always"))
	case n <= 0:
		return nil, 0, nil
	}
	name, err := newestAOF(filepath.Join(r.dataDir(), "appendonlydir"))
	if err != nil {
		return fail(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return fail(err)
	}
	defer f.Close()
	tail, err := lastEntries(f, n, counts)
	if err != nil {
		return fail(fmt.Errorf("%s: %w", filepath.Base(name), err))
	}
	if len(tail.counted) == 0 {
		return nil, 0, nil
	}
	if err := f.Truncate(tail.starts[0]); err != nil {
		return fail(err)
	}
	return tail.counted, tail.others, nil
}

// newestAOF is the file that Redis appends to: the last of type i in the manifest.
func newestAOF(dir string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, "appendonly.aof.manifest"))
	if err != nil {
		return "", err
	}
	name := ""
	for line := range strings.Lines(string(b)) {
		// file appendonly.aof.1.incr.aof seq 1 type i
		words := strings.Fields(line)
		if len(words) >= 6 && words[0] == "file" && words[5] == "i" {
			name = words[1]
		}
	}
	if name == "" || name != filepath.Base(name) {
		return "", fmt.Errorf("the manifest names no file to append to: %q", b)
	}
	return filepath.Join(dir, name), nil
}

// tail is the end of an append-only file.
type tail struct {
	starts  []int64 // of the entries that count
	counted []Entry
	others  int   // entries after the first of these that don't count
	behind  []int // others that lie between one that counts and the next
}

// lastEntries reads a file from its beginning and keeps the last n entries that
// count. What a kill left half-written at its end is no entry: Redis drops it.
func lastEntries(r io.Reader, n int, counts func(Entry) bool) (tail, error) {
	in := aofReader{in: bufio.NewReaderSize(r, 1<<20)}
	var t tail
	for {
		start := in.at
		e, err := in.entry()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			for _, k := range t.behind {
				t.others += k
			}
			return t, nil
		case err != nil:
			return tail{}, fmt.Errorf("byte %d: %w", in.at, err)
		case len(e) == 0: // a comment
		case counts(e):
			if len(t.counted) == n {
				t.starts, t.counted, t.behind = t.starts[1:], t.counted[1:], t.behind[1:]
			}
			t.starts, t.counted, t.behind = append(t.starts, start), append(t.counted, e), append(t.behind, 0)
		case len(t.behind) > 0:
			t.behind[len(t.behind)-1]++
		}
	}
}

// aofReader reads commands as Redis writes them, and counts bytes.
type aofReader struct {
	in *bufio.Reader
	at int64
}

// entry reads the next entry; an empty one is a comment. A file that ends
// within an entry gives io.ErrUnexpectedEOF.
func (a *aofReader) entry() (Entry, error) {
	var e Entry
	inside := false // MULTI … EXEC
	for {
		command, err := a.command()
		if err != nil {
			if inside && errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		switch {
		case len(command) == 0: // #TS:… of aof-timestamp-enabled
		case bytes.EqualFold(command[0], []byte("MULTI")):
			inside = true
		case bytes.EqualFold(command[0], []byte("EXEC")):
			return e, nil
		default:
			e = append(e, command)
		}
		if !inside {
			return e, nil
		}
	}
}

// maxAOFArgument bounds what a broken length would make us read.
const maxAOFArgument = 64 << 20

func (a *aofReader) command() ([][]byte, error) {
	line, err := a.line()
	if err != nil {
		return nil, err
	}
	if line[0] == '#' {
		return nil, nil
	}
	n, err := aofNumber(line, '*', 1<<20)
	if err != nil {
		return nil, err
	}
	args := make([][]byte, 0, min(n, 1024))
	for range n {
		if line, err = a.line(); err != nil {
			return nil, unexpected(err)
		}
		size, err := aofNumber(line, '$', maxAOFArgument)
		if err != nil {
			return nil, err
		}
		arg := make([]byte, size+2)
		k, err := io.ReadFull(a.in, arg)
		a.at += int64(k)
		if err != nil {
			return nil, unexpected(err)
		}
		if !bytes.HasSuffix(arg, []byte("\r\n")) {
			return nil, fmt.Errorf("an argument of %d bytes doesn't end there", size)
		}
		args = append(args, arg[:size])
	}
	return args, nil
}

// line reads up to CRLF, which isn't part of it. It is never empty.
func (a *aofReader) line() ([]byte, error) {
	b, err := a.in.ReadSlice('\n')
	a.at += int64(len(b))
	if err != nil {
		if len(b) > 0 {
			err = unexpected(err)
		}
		return nil, err
	}
	line, ok := bytes.CutSuffix(b, []byte("\r\n"))
	if !ok || len(line) == 0 {
		return nil, fmt.Errorf("%q isn't a line of an append-only file", b)
	}
	return line, nil
}

func aofNumber(line []byte, kind byte, limit int) (int, error) {
	n, err := strconv.Atoi(string(line[1:]))
	if line[0] != kind || err != nil || n < 0 || n > limit || kind == '*' && n == 0 {
		return 0, fmt.Errorf("%q: want %c and a number up to %d", line, kind, limit)
	}
	return n, nil
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
