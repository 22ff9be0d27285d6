package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// FileName is what a result file is called inside its directory.
const FileName = "result.json"

// maxFile bounds what Read loads; a result of a day is a few MB.
const maxFile = 1 << 30

// Write stores the result as indented JSON, so that a reader finds either the
// whole file or what was there before: it writes a temporary file beside it,
// syncs, renames, and syncs the directory. The directory must exist.
func Write(path string, r *Result) error {
	b, err := Encode(r)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return WriteFile(path, b)
}

// WriteFile puts b where a reader finds either all of it or what was there
// before, and says what would be right where it can't. A link is followed;
// what is no file, a pipe or /dev/stdout, is written into.
func WriteFile(path string, b []byte) error {
	write, at := writeAtomic, path
	if info, err := os.Stat(path); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil && info.Mode().IsRegular() {
			at = real
		}
		if !info.Mode().IsRegular() && !info.IsDir() {
			write = writeInto
		}
	}
	if err := write(at, b); err != nil {
		return explainWrite(path, int64(len(b)), err)
	}
	return nil
}

func writeInto(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

func writeAtomic(path string, b []byte) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(b); err != nil {
		return err
	}
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir makes the rename itself survive a power cut. File systems that can't
// sync a directory say so by EINVAL.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// explainWrite says what would be right. The path errors of package os name
// the temporary file, which nobody asked for.
func explainWrite(path string, size int64, err error) error {
	hint := ""
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		hint = fmt.Sprintf("the disk is full: %d KiB are needed; free some, or choose another directory with --out", size/1024+1)
	case errors.Is(err, fs.ErrNotExist):
		hint = "the directory doesn't exist"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		hint = "the directory isn't writable; choose another with --out"
	default:
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return &writeError{text: fmt.Sprintf("writing %s: %s", path, hint), cause: err}
}

type writeError struct {
	text  string
	cause error
}

func (e *writeError) Error() string { return e.text }
func (e *writeError) Unwrap() error { return e.cause }

// Read loads a result file, or FileName inside a directory.
func Read(path string) (*Result, error) {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		path = filepath.Join(path, FileName)
		info, err = os.Stat(path)
	}
	if err != nil {
		return nil, fmt.Errorf("reading result: %w", err)
	}
	if !info.Mode().IsRegular() { // a pipe may never end, and neither does /dev/zero
		return nil, fmt.Errorf("reading result %s: it is no regular file", path)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("reading result %s: it has %d MiB, a result has at most %d", path, info.Size()>>20, maxFile>>20)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading result: %w", err)
	}
	r, err := Decode(b)
	if err != nil {
		return nil, fmt.Errorf("reading result %s: %w", path, err)
	}
	return r, nil
}

func explainJSON(b []byte, err error) error {
	offset := int64(-1)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case len(bytes.TrimSpace(b)) == 0:
		return errors.New("the file is empty")
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	}
	if offset < 0 || offset > int64(len(b)) {
		return fmt.Errorf("not a result: %w", err)
	}
	before := b[:offset]
	return fmt.Errorf("line %d: not a result: %w", bytes.Count(before, []byte("\n"))+1, err)
}
