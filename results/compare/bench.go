package compare

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"ackmark/results"
)

// BenchUnit is a metric's unit in Go's benchmark format, derived from its name:
//
//	_per_ becomes /, other _ become -   deliveries_per_s    deliveries/s
//	bytes becomes B                     wire_bytes_in       wire-B-in
//	a histogram's figure has its unit   live.p999           live-p99.9-us
//	as has a ratio in per cent          late_sends_percent  late-sends-percent
//
// benchstat scales B by 1024; it knows no µs, so figures in us are shown as
// 24.8k.
func BenchUnit(metric string) string {
	base, stat, dotted := strings.Cut(metric, ".")
	unit := strings.ReplaceAll(base, "_per_", "/")
	unit = strings.ReplaceAll(unit, "_", "-")
	words := strings.FieldsFunc(unit, func(r rune) bool { return r == '-' || r == '/' })
	for _, w := range words {
		if w == "bytes" {
			unit = strings.Replace(unit, "bytes", "B", 1)
		}
	}
	if !dotted {
		return unit
	}
	if stat == "p999" {
		stat = "p99.9"
	}
	if stat == "count" {
		return unit + "-count"
	}
	return unit + "-" + stat + "-us"
}

// RenderBench writes every valid run as a line of Go's benchmark format, which
// benchstat reads: BenchmarkAckStorm/variant=every_10-2, one iteration, and
// every metric that the run has. Null metrics and invalid runs are left out, the
// latter with a note: whoever reads the format can't tell them.
//
// Configuration lines hold what makes numbers incomparable, since benchstat
// sets those with others apart in tables of their own. What is usually compared,
// the version of loadgen and server, is only a note. With several sides each has
// a line "side: LABEL", for benchstat -col side, and where their settings or
// seeds differ these are notes too: they were given to be compared.
func (c *Comparison) RenderBench(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Go benchmark format, a line per run; made by loadgen compare --format bench\n")
	c.benchUnits(&b)
	compared := c.benchCompared()
	for i, s := range c.sides {
		b.WriteByte('\n')
		if len(c.sides) > 1 {
			fmt.Fprintf(&b, "side: %s\n", benchValue(s.Label))
		} else {
			fmt.Fprintf(&b, "# side: %s\n", benchValue(s.Label))
		}
		for _, r := range s.Results {
			benchConfig(&b, r, compared)
			left := 0
			names := c.benchNames()
			profile := r.Profile.Name
			if compared["profile"] {
				profile = c.sides[0].Results[0].Profile.Name
			}
			for k := range r.Runs {
				run := &r.Runs[k]
				name, wanted := names[[2]string{letter(i), run.Variant}]
				switch {
				case !wanted:
				case !usable(r, run):
					left++
				default:
					benchLine(&b, r, run, profile, name)
				}
			}
			if left > 0 {
				fmt.Fprintf(&b, "# left out: %s\n", results.Plural(left, "invalid run"))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// benchNames gives each variant that is compared the name that the first side
// has for it, without what the format has a use for. Two that become the same
// are told apart.
func (c *Comparison) benchNames() map[[2]string]string {
	out := map[[2]string]string{}
	taken := map[string]bool{}
	for _, v := range c.Variants {
		name := benchWord(v.Name)
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s_%d", benchWord(v.Name), n)
		}
		taken[name] = true
		for i, s := range c.sides {
			out[[2]string{letter(i), c.nameOn(s, v.Name)}] = name
		}
	}
	return out
}

// benchSetting is what was measured, as benchstat is told it.
func benchSetting(r *results.Result) [][2]string {
	return [][2]string{{"profile", r.Profile.Name}, {"profile-hash", r.Profile.Hash}, {"seed", seedText(r)}}
}

// benchCompared are the keys of benchSetting whose values aren't the same on all
// sides, so that as configuration they would part what is to be compared.
func (c *Comparison) benchCompared() map[string]bool {
	out := map[string]bool{}
	var first map[string]string
	for _, s := range c.sides {
		values := map[string][]string{}
		for _, r := range s.Results {
			for _, line := range benchSetting(r) {
				values[line[0]] = append(values[line[0]], line[1])
			}
		}
		joined := map[string]string{}
		for key, all := range values {
			slices.Sort(all)
			joined[key] = strings.Join(slices.Compact(all), "\n")
			out[key] = out[key] || first != nil && first[key] != joined[key]
		}
		if first == nil {
			first = joined
		}
	}
	return out
}

// benchConfig writes the conditions of a result: as configuration, or as notes
// what is compared.
func benchConfig(b *strings.Builder, r *results.Result, compared map[string]bool) {
	e := r.Environment
	redis := e.RedisVersion
	if isEmbedded(r) {
		redis = "embedded"
	}
	conditions := [][2]string{{"goos", "linux"}, {"goarch", e.Arch}, {"cpu", e.CPUModel}, {"redis", redis}}
	for _, line := range append(conditions, benchSetting(r)...) {
		note := ""
		if compared[line[0]] {
			note = "# "
		}
		fmt.Fprintf(b, "%s%s: %s\n", note, line[0], orUnknown(benchValue(line[1])))
	}
	fmt.Fprintf(b, "# loadgen %s, server %s\n", orUnknown(benchValue(r.ToolVersion)), orUnknown(benchValue(versions(r.Servers))))
}

// seedText is the seed, or in files of v1 that of the first run.
func seedText(r *results.Result) string {
	if r.Schema == results.SchemaV1 && len(r.Runs) > 0 {
		return fmt.Sprintf("run %d", r.Runs[0].Seed)
	}
	return strconv.FormatUint(r.Profile.Seed, 10)
}

func benchLine(b *strings.Builder, r *results.Result, run *results.Run, profile, variant string) {
	fmt.Fprintf(b, "Benchmark%s/variant=%s", camel(profile), variant)
	// Without it a name that ends in a number would lose that.
	fmt.Fprintf(b, "-%d 1", max(1, r.Environment.GOMAXPROCS))
	for _, m := range results.AllMetrics() {
		if strings.HasSuffix(m.Name, ".count") && run.Histograms[strings.TrimSuffix(m.Name, ".count")].Count == 0 {
			continue
		}
		if x, ok := run.Value(m.Name); ok {
			fmt.Fprintf(b, " %s %s", strconv.FormatFloat(x, 'g', -1, 64), BenchUnit(m.Name))
		}
	}
	b.WriteByte('\n')
}

// benchUnits says what each unit is: which direction is better, and whether it
// is exact. A count that varies from repeat to repeat, since each has a seed of
// its own, isn't: benchstat would show the value that occurs most.
func (c *Comparison) benchUnits(b *strings.Builder) {
	for _, m := range results.AllMetrics() {
		exact, found := true, false
		for i := range c.Variants {
			v := &c.Variants[i]
			exact = exact && classOn(v, m) != results.Timing
			for _, side := range v.Sides {
				x := side.samples(m.Name)
				if len(x) > 0 {
					found = true
					exact = exact && x[0] == x[len(x)-1]
				}
			}
		}
		if !found {
			continue
		}
		fmt.Fprintf(b, "Unit %s", BenchUnit(m.Name))
		if m.Better != results.Neither {
			fmt.Fprintf(b, " better=%s", m.Better)
		}
		if exact {
			b.WriteString(" assume=exact")
		} else {
			b.WriteString(" assume=nothing")
		}
		b.WriteByte('\n')
	}
}

// camel writes a profile's name as Go writes names: AckStorm.
func camel(name string) string {
	var b strings.Builder
	up := true
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			up = true
		case up:
			b.WriteRune(unicode.ToUpper(r))
			up = false
		default:
			b.WriteRune(r)
		}
	}
	return or(b.String(), "Profile")
}

// benchWord is a value within a benchmark's name: no space, which ends it, and
// no slash, which begins the next part.
func benchWord(s string) string {
	return or(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '/' || unicode.IsControl(r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(s, "_")), "_")
}

func benchValue(s string) string {
	return strings.Join(slices.Collect(strings.FieldsSeq(results.OneLine(s))), " ")
}
