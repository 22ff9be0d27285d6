// Perftable reads what `go test -bench` prints, hands it on line by line (so
// that benchstat can read it), and ends with a table of what each comparison
// of package pair costs, its floor, their ratio, and whether that is within
// its limit.
//
//	go test -run '^$' -bench Storm ./refserver/server | go run ./results/pair/perftable
//
// Exit codes: 0; 1 when a benchmark failed (a floor that isn't honest is one),
// or none was there. A ratio over its limit is said, and no failure: machines
// that do other work at the same time get there.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() { os.Exit(run(os.Stdin, os.Stdout, os.Stderr)) }

func run(in io.Reader, out, errs io.Writer) int {
	rows, failed, err := read(in, out)
	switch {
	case err != nil:
		fmt.Fprintln(errs, "perftable: reading the benchmarks' output:", err)
		return 1
	case len(rows) == 0:
		fmt.Fprintln(errs, "perftable: no comparison in the input; want the output of go test -bench with x-floor in it")
		return 1
	}
	if err := write(out, rows); err != nil {
		fmt.Fprintln(errs, "perftable:", err)
		return 1
	}
	if failed {
		fmt.Fprintln(errs, "perftable: a benchmark failed, see above")
		return 1
	}
	return 0
}
