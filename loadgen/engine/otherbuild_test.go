package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// script makes an executable that does what a line of shell says.
func script(t *testing.T, name, line string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+line+"\n"), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestServerOf(t *testing.T) {
	for _, tt := range []struct {
		name, says string
		args       []string
		version    string
	}{
		{"a loadgen", "loadgen devel 0123456789ab (modified) go1.26.1 linux/amd64", []string{"refserver", "serve"}, "devel 0123456789ab (modified)"},
		{"a refserver", "refserver v1.2.3 go1.26.1 linux/amd64", []string{"serve"}, "v1.2.3"},
	} {
		args, version, err := ServerOf(t.Context(), script(t, "x", `test "$*" = version && echo "`+tt.says+`"`, 0o755))
		if err != nil || !slices.Equal(args, tt.args) || version != tt.version {
			t.Errorf("%s: %q, %q, %v; want %q, %q", tt.name, args, version, err, tt.args, tt.version)
		}
	}
	over, end := context.WithCancel(t.Context())
	end()
	for _, tt := range []struct {
		name, path, want string
		ctx              context.Context
	}{
		{"something else", script(t, "x", "echo nginx version 1.2 go1.26 linux", 0o755), `neither a loadgen nor a refserver: asked for its version, it says "nginx`, t.Context()},
		{"of no version", script(t, "x", "echo loadgen", 0o755), "neither a loadgen nor a refserver", t.Context()},
		{"one that fails", script(t, "x", "exit 3", 0o755), `"version" failed: exit status 3`, t.Context()},
		{"no file", filepath.Join(t.TempDir(), "none"), "there is no file", t.Context()},
		{"a directory", t.TempDir(), "can't be run", t.Context()},
		{"a file", script(t, "x", "", 0o644), "can't be run", t.Context()},
		{"an end", script(t, "x", "exec sleep 60", 0o755), "neither a loadgen nor a refserver", over},
	} {
		if _, _, err := ServerOf(tt.ctx, tt.path); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// A script that hangs, or leaves something running, is ended with all that it
// has started.
func TestServerOfLeavesNothing(t *testing.T) {
	for name, line := range map[string]string{
		"hangs": "sleep 60 & echo $! >%s; wait", "leaves": "sleep 60 & echo $! >%s",
		"leaves quietly": "sleep 60 >/dev/null 2>&1 & echo $! >%s; echo refserver v1",
	} {
		t.Run(name, func(t *testing.T) {
			note := filepath.Join(t.TempDir(), "pid")
			path := script(t, "x", fmt.Sprintf(line, note), 0o755)
			pid := make(chan int, 1)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				defer cancel() // what hangs is given up once it has begun
				for range 3000 {
					b, _ := os.ReadFile(note)
					if n, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil {
						pid <- n
						return
					}
					time.Sleep(10 * time.Millisecond)
				}
				pid <- 0
			}()
			if _, _, err := ServerOf(ctx, path); err == nil {
				t.Error("taken for a server")
			}
			child := <-pid
			if child == 0 {
				t.Fatal("the script didn't begin")
			}
			for range 3000 {
				stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child))
				if err != nil || strings.Contains(string(stat), ") Z ") {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
			t.Errorf("process %d still runs", child)
		})
	}
}

// Another build's server is given once: by its executable or as a target.
func TestOtherServer(t *testing.T) {
	c := Config{OtherServer: script(t, "x", `echo "refserver v1.2.3 go1.26.1 linux/amd64"`, 0o755)}
	if err := c.otherServer(t.Context()); err != nil || c.Executable != c.OtherServer || c.ServerVersion != "v1.2.3" || !slices.Equal(c.ServerArgs, []string{"serve"}) {
		t.Errorf("%q %q %q, %v", c.Executable, c.ServerArgs, c.ServerVersion, err)
	}
}
