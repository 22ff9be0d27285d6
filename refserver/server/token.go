package server

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"ackmark/refserver/gateway"
)

type tokenOptions struct {
	user       string
	ttl        time.Duration
	secret     string
	secretFile string
	dev        bool
}

func (p *program) tokenCommand() *cobra.Command {
	o := &tokenOptions{ttl: time.Hour}
	settings := []setting{
		{group: "Settings", name: "user", arg: "NAME", bind: text(&o.user), help: "whose token; the user has to be created before it is used"},
		{group: "Settings", name: "ttl", arg: "TIME", bind: duration(&o.ttl), help: "how long the token is valid, in whole seconds, like 90s, 1h or 24h"},
		{group: "Settings", name: "token-secret", arg: "SECRET", secret: true, bind: text(&o.secret), help: "the server's token secret; prefer the file or ACKMARK_TOKEN_SECRET"},
		{group: "Settings", name: "token-secret-file", arg: "PATH", bind: text(&o.secretFile), help: "file that holds the token secret"},
		{group: "Settings", name: "insecure-dev", bind: flag(&o.dev), help: "the secret of a server that runs with --insecure-dev"},
	}
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Mint a user's token, for trying things by hand",
		Long:  "Prints a token (JWT, HS256) for one user to standard output.",
		Example: "  refserver token --user alice --insecure-dev\n" +
			"  TOKEN=$(refserver token --user alice --ttl 24h --token-secret-file ./token)",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := applyEnv(cmd.Flags(), p.lookup); err != nil {
				return usage(err)
			}
			token, err := o.mint()
			if err != nil {
				return usage(err)
			}
			fmt.Fprintln(p.stdout, token)
			return nil
		},
	}
	for _, s := range settings {
		s.bind(cmd.Flags(), s.name, s.help)
	}
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		w := cmd.OutOrStdout()
		fmt.Fprintf(w, "%s\n\nUsage\n  %s\n\nExamples\n%s\n", cmd.Long, cmd.UseLine(), cmd.Example)
		writeSettings(w, cmd.Flags(), settings)
		fmt.Fprint(w, "\nExit codes\n  0  printed\n  2  a flag, a variable or a file is wrong\n")
	})
	return cmd
}

func (o *tokenOptions) mint() (string, error) {
	secret := o.secret
	switch {
	case o.user == "":
		return "", fmt.Errorf("whose token? --user NAME is missing")
	case o.dev && (secret != "" || o.secretFile != ""):
		return "", fmt.Errorf("--insecure-dev brings its own secret: leave it away, or the other secret")
	case secret != "" && o.secretFile != "":
		return "", fmt.Errorf("--token-secret and --token-secret-file are both set: one of them is right")
	case o.dev:
		secret = DevSecret
	case o.secretFile != "":
		var err error
		if secret, err = readSecret(o.secretFile); err != nil {
			return "", fmt.Errorf("--token-secret-file: %w", err)
		}
	case secret == "":
		return "", fmt.Errorf("no token secret: set --token-secret-file (or ACKMARK_TOKEN_SECRET) to the server's, or --insecure-dev")
	}
	token, err := gateway.NewTokens(secret, time.Now).Mint(o.user, o.ttl)
	if err != nil {
		return "", fmt.Errorf("--user, --ttl: %w", err)
	}
	return token, nil
}
