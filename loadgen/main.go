// Command loadgen is Ackmark's load generator; package cli is its command line.
package main

import (
	"os"

	"ackmark/loadgen/cli"
	"ackmark/refserver/server"
)

func main() {
	os.Exit(cli.Run(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, server.Main))
}
