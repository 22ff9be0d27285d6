package main

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
)

// row is one benchmark: a comparison with a floor, or a size with a limit.
type row struct {
	name    string
	metrics map[string]float64 // by unit
}

// processors is what go test appends to names.
var processors = regexp.MustCompile(`-\d+$`)

// read copies the input to out and returns the benchmarks in it that state a
// limit or a ratio; failed is true when go test said FAIL.
func read(in io.Reader, out io.Writer) (rows []row, failed bool, err error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if _, err := fmt.Fprintln(out, line); err != nil {
			return rows, failed, err
		}
		failed = failed || strings.HasPrefix(line, "FAIL") || strings.HasPrefix(line, "--- FAIL")
		if r, ok := parse(line); ok {
			rows = append(rows, r)
		}
	}
	return rows, failed, lines.Err()
}

// parse takes a line of a benchmark: name, iterations, and pairs of a value
// and its unit.
func parse(line string) (r row, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 4 || len(fields)%2 != 0 || !strings.HasPrefix(fields[0], "Benchmark") {
		return r, false
	}
	if _, err := strconv.Atoi(fields[1]); err != nil {
		return r, false
	}
	r = row{processors.ReplaceAllString(strings.TrimPrefix(fields[0], "Benchmark"), ""), make(map[string]float64)}
	for i := 2; i < len(fields); i += 2 {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return r, false
		}
		r.metrics[fields[i+1]] = v
	}
	_, _, _, limited := r.size()
	_, compared := r.metrics["x-floor"]
	return r, limited || compared
}

// size is a metric that has a limit of its own: NAME-UNIT beside NAME-limit-UNIT.
func (r row) size() (unit string, value, limit float64, ok bool) {
	for u, limit := range r.metrics {
		name, rest, found := strings.Cut(u, "-limit-")
		if value, ok := r.metrics[name+"-"+rest]; found && ok {
			return rest, value, limit, true
		}
	}
	return "", 0, 0, false
}

// cpu is what one operation costs and what the floor's does.
func (r row) cpu() (op string, ours, floor float64) {
	for u, v := range r.metrics {
		if op, found := strings.CutPrefix(u, "cpu-ns/"); found {
			return op, v, r.metrics["floor-cpu-ns/"+op]
		}
	}
	return "", 0, 0
}

func (r row) cells() []string {
	if unit, value, limit, ok := r.size(); ok {
		return []string{r.name, fmt.Sprintf("%.0f %s", value, unit), "", "", "", fmt.Sprintf("%.0f", limit), verdict(value, limit)}
	}
	op, ours, floor := r.cpu()
	ratio := r.metrics["x-floor"]
	cells := []string{r.name, fmt.Sprintf("%.2f µs/%s", ours/1000, op), fmt.Sprintf("%.2f", floor/1000),
		fmt.Sprintf("%.2f", ratio), fmt.Sprintf("%.0f%%", r.metrics["±%"]), "", ""}
	if limit, ok := r.metrics["x-limit"]; ok {
		cells[5], cells[6] = fmt.Sprintf("%.2f", limit), verdict(ratio, limit)
	}
	return cells
}

func verdict(value, limit float64) string {
	if value > limit {
		return "over"
	}
	return "ok"
}

// write prints the table. CPU is of the measured process alone; ± is half the
// range between the quartiles of the ratios.
func write(out io.Writer, rows []row) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nbenchmark\tcpu\tfloor\tratio\t±\tlimit\t")
	for _, r := range rows {
		fmt.Fprintln(w, strings.TrimRight(strings.Join(r.cells(), "\t"), "\t"))
	}
	return w.Flush()
}
