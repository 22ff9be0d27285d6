package launch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// givenName is the file in a run directory that names the given Redis and the
// namespace of the run, so that the sweep after a killed generator leaves a
// shared Redis clean too. It may hold a password; only its owner can read it.
const givenName = "given-redis"

func noteGiven(runDir, url, namespace string) error {
	path := filepath.Join(runDir, givenName)
	if err := os.WriteFile(path, []byte(url+"\n"+namespace+"\n"), 0o600); err != nil {
		return fmt.Errorf("noting the namespace of the run: %w", err)
	}
	return nil
}

// purgeNoted removes the keys of a run whose generator was killed. Where that
// Redis is away its keys stay, with nobody to remove them: the note goes all the same.
func purgeNoted(runDir string) error {
	note, err := os.ReadFile(filepath.Join(runDir, givenName))
	if err != nil {
		return nil // the run had a Redis of its own
	}
	url, namespace, ok := strings.Cut(strings.TrimSpace(string(note)), "\n")
	if !ok || namespace == "" {
		return nil // killed while it was written: nothing was stored yet
	}
	ctx, cancel := context.WithTimeout(context.Background(), purgeTimeout)
	defer cancel()
	_, err = Purge(ctx, url, namespace)
	return err
}
