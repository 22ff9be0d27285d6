package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// versionTimeout is how long an executable may take to say what it is.
const versionTimeout = 10 * time.Second

// ServerOf finds out how another build's server is started, the arguments before
// its flags, and which version it is. The executable is a loadgen, which has the
// server in it, or a refserver: "PATH version" tells.
func ServerOf(ctx context.Context, path string) (args []string, version string, err error) {
	path, err = executable(path)
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	out, err := versionOf(ctx, path)
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("no answer within %v", versionTimeout)
		}
		return nil, "", fmt.Errorf("%s is neither a loadgen nor a refserver: %q failed: %w", path, "version", err)
	}
	// NAME VERSION… GOVERSION OS/ARCH
	words := strings.Fields(string(out))
	if len(words) >= 4 && strings.HasPrefix(words[len(words)-2], "go") {
		version = strings.Join(words[1:len(words)-2], " ")
		switch words[0] {
		case "loadgen":
			return []string{"refserver", "serve"}, version, nil
		case "refserver":
			return []string{"serve"}, version, nil
		}
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return nil, "", fmt.Errorf("%s is neither a loadgen nor a refserver: asked for its version, it says %.80q", path, line)
}

// versionOf runs "PATH version". A script is ended with all that it has started.
func versionOf(ctx context.Context, path string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, path, "version")
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	group := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = group
	out, err := cmd.Output()
	if cmd.Process != nil {
		_ = group() // what it has left running
	}
	return out, err
}

// executable is the path of a file that can be run, from wherever.
func executable(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("another build's executable: %w", err)
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("another build's executable: there is no file %s", path)
	case err != nil:
		return "", fmt.Errorf("another build's executable: %w", err)
	case !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0:
		return "", fmt.Errorf("another build's executable: %s can't be run; it should be a loadgen or a refserver", path)
	}
	return abs, nil
}

// otherServer resolves OtherServer.
func (c *Config) otherServer(ctx context.Context) error {
	if c.OtherServer == "" {
		return nil
	}
	args, version, err := ServerOf(ctx, c.OtherServer)
	if err != nil {
		return err
	}
	c.ServerArgs, c.ServerVersion = args, version
	c.Executable, err = executable(c.OtherServer)
	return err
}
