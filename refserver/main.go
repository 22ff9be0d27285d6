// Refserver is Ackmark's reference server; `refserver --help` says more.
package main

import (
	"os"

	"ackmark/refserver/server"
)

func main() { os.Exit(server.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
