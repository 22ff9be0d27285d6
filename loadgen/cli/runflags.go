package cli

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ackmark/loadgen/engine"
	"ackmark/profiles"
)

// measureFlags are the flags of every command that measures a profile: what to
// measure, on what, and where the result goes.
type measureFlags struct {
	sets            []string
	variants        []string
	repeats         int
	seed            uint64
	redis           string
	embedded        bool
	target          string
	tokenSecret     string
	tokenSecretFile string
	adminSecret     string
	adminSecretFile string
	out             string
	json            bool
	quiet           bool

	given func(flag string) bool // on the command line
}

// add defines the flags. A command's own come before or after, as they are
// defined before or after.
func (m *measureFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	m.given = f.Changed
	f.StringArrayVar(&m.sets, "set", nil, "set `KEY=VALUE` over the profile and its variants; repeatable. \"loadgen profiles keys\" lists the keys")
	f.StringArrayVar(&m.variants, "variant", nil, "measure only the variant `NAME`; repeatable")
	f.IntVar(&m.repeats, "repeats", 0, "measure each variant `N` times instead of what the profile says")
	f.Uint64Var(&m.seed, "seed", 0, "start all randomness at `N` instead of the profile's seed")
	f.StringVar(&m.redis, "redis", "", "use the Redis at `URL` instead of a private one; its other keys are left alone")
	f.BoolVar(&m.embedded, "embedded", false, "use the embedded store: to try things without Redis, never for a baseline")
	f.StringVar(&m.target, "target", "", "drive the running server at `HOST:PORT`; needs its two secrets")
	f.StringVar(&m.tokenSecret, "token-secret", "", "the target's token `SECRET`; others on this machine can see flags, prefer the file or ACKMARK_TOKEN_SECRET")
	f.StringVar(&m.tokenSecretFile, "token-secret-file", "", "`FILE` that holds the target's token secret")
	f.StringVar(&m.adminSecret, "admin-secret", "", "the target's admin `SECRET`; prefer the file or ACKMARK_ADMIN_SECRET")
	f.StringVar(&m.adminSecretFile, "admin-secret-file", "", "`FILE` that holds the target's admin secret")
	f.StringVar(&m.out, "out", "", "write to the new directory `DIR` (default results/runs/TIME-PROFILE)")
	f.BoolVar(&m.json, "json", false, "print the result as JSON to stdout, and nothing else")
	f.BoolVar(&m.quiet, "quiet", false, "no progress on stderr; errors and warnings still")
}

// overrides are all keys that flags set, as --set takes them.
func (m *measureFlags) overrides() []string {
	sets := slices.Clone(m.sets)
	if m.given("repeats") {
		sets = append(sets, "repeats="+strconv.Itoa(m.repeats))
	}
	if m.given("seed") {
		sets = append(sets, "seed="+strconv.FormatUint(m.seed, 10))
	}
	return sets
}

// config loads a profile with its variants, as far as they were asked for, and
// says what to measure and on what.
func (m *measureFlags) config(a *app, name string) (engine.Config, error) {
	sets := m.overrides()
	source, settings, err := load(name, sets)
	if err != nil {
		return engine.Config{}, err
	}
	if settings, err = choose(settings, m.variants); err != nil {
		return engine.Config{}, err
	}
	return m.configOf(a, source, settings, sets)
}

// configOf is config for settings that were resolved elsewhere, with these sets.
func (m *measureFlags) configOf(a *app, source *profiles.Source, settings []profiles.Setting, sets []string) (engine.Config, error) {
	cfg := engine.Config{
		Source: source, Settings: settings, Sets: sets, RedisURL: m.redis, Embedded: m.embedded, Target: m.target,
		ToolVersion: version(),
	}
	var err error
	if cfg.TokenSecret, err = a.secretOf("token-secret", m.tokenSecret, m.tokenSecretFile, m.target != ""); err != nil {
		return engine.Config{}, err
	}
	if cfg.AdminSecret, err = a.secretOf("admin-secret", m.adminSecret, m.adminSecretFile, m.target != ""); err != nil {
		return engine.Config{}, err
	}
	if err := cfg.Check(); err != nil {
		return engine.Config{}, usage(err)
	}
	return cfg, nil
}

// choose keeps the variants that were asked for, in the order of the profile.
func choose(settings []profiles.Setting, names []string) ([]profiles.Setting, error) {
	if len(names) == 0 {
		return settings, nil
	}
	var known []string
	for _, s := range settings {
		known = append(known, strconv.Quote(s.Name))
	}
	for _, n := range names {
		if !slices.ContainsFunc(settings, func(s profiles.Setting) bool { return s.Name == n }) {
			return nil, usagef("--variant %q: there is no such variant; the profile has %s", n, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(settings), func(s profiles.Setting) bool { return !slices.Contains(names, s.Name) }), nil
}

// secretOf reads a secret of the target from its flag, its file or, with a
// target, the environment.
func (a *app) secretOf(flag, value, file string, target bool) (string, error) {
	switch {
	case value != "" && file != "":
		return "", usagef("--%s and --%s-file say the same thing; give one", flag, flag)
	case value != "":
		return value, nil
	case file != "":
		b, err := os.ReadFile(file)
		if err != nil {
			return "", usagef("--%s-file: %w", flag, err)
		}
		text := strings.TrimSpace(string(b))
		if text == "" {
			return "", usagef("--%s-file: %s is empty; it should hold the secret", flag, file)
		}
		return text, nil
	case target:
		v, _ := a.lookup("ACKMARK_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_")))
		return v, nil
	}
	return "", nil
}
