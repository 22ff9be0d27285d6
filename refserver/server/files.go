package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// readSecrets reads the secrets that are given as files.
func (o *options) readSecrets() error {
	for _, s := range []struct {
		flag, path string
		into       *string
	}{
		{"token-secret", o.tokenSecretFile, &o.TokenSecret},
		{"admin-secret", o.adminSecretFile, &o.AdminSecret},
	} {
		if s.path == "" {
			continue
		}
		if *s.into != "" {
			return fmt.Errorf("--%s and --%s-file are both set: one of them is right", s.flag, s.flag)
		}
		secret, err := readSecret(s.path)
		if err != nil {
			return fmt.Errorf("--%s-file: %w", s.flag, err)
		}
		*s.into = secret
	}
	return nil
}

// readSecret returns a file's content without the newline at its end.
func readSecret(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	secret := strings.TrimRight(string(b), "\r\n")
	if secret == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	return secret, nil
}

// writeAddr writes an address so that a reader sees all of it or nothing.
func writeAddr(path, addr string) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".addr-*")
	if err != nil {
		return fmt.Errorf("--addr-file: %w", err)
	}
	_, err = tmp.WriteString(addr + "\n")
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return fmt.Errorf("--addr-file %s: %w", path, err)
	}
	return nil
}

// removeAddr removes the file, unless another server has written its own there.
func removeAddr(path, addr string) {
	if b, err := os.ReadFile(path); err == nil && strings.TrimSpace(string(b)) == addr {
		_ = os.Remove(path)
	}
}
