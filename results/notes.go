package results

import (
	"fmt"
	"slices"
	"strings"
)

// notes says what the tables have no column for and a reader should know, each
// thing once: the warnings of runs, what was still in flight (measuring.md, 9),
// sends without a good answer, late sends (5), and where response time and
// service time part (1).
func notes(r *Result) []string {
	var out []string
	add := func(variant, text string) {
		if text = variant + ": " + text; !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	for _, v := range r.Variants {
		if text := leftOver(v); text != "" {
			add(v.Name, text)
		}
		if text := perConnection(v); text != "" {
			add(v.Name, text)
		}
		if late := v.Metrics["late_sends_percent"]; late.Max != nil && *late.Max >= notedLate {
			add(v.Name, FormatValue("percent", *late.Max)+" of the sends were late")
		}
		for _, base := range []string{"live", "send"} {
			if text := parted(v, base); text != "" {
				add(v.Name, text)
			}
		}
	}
	for i := range r.Runs {
		for _, w := range r.Runs[i].Warnings {
			add(r.Runs[i].Variant, w)
		}
	}
	return out
}

// notedLate is the least share of late sends that is worth a line, in per cent.
const notedLate = 5

// leftOver names the counts that should be 0, of the worst repeat.
func leftOver(v Variant) string {
	var parts []string
	for _, c := range []struct{ name, text string }{
		{"pending", "deliveries pending when the drain ended"},
		{"unknown", "sends whose answer never came"},
		{"refused", "sends refused"},
		{"retransmitted", "deliveries retransmitted"},
	} {
		if m := v.Metrics[c.name]; m.Max != nil && *m.Max > 0 {
			parts = append(parts, fixed(*m.Max, 0)+" "+c.text)
		}
	}
	return strings.Join(parts, ", ")
}

// perConnection says what one connection takes in memory, where that was
// measured.
func perConnection(v Variant) string {
	server, generator := v.Metrics["server_rss_bytes_per_connection"], v.Metrics["generator_rss_bytes_per_connection"]
	if server.Max == nil || generator.Max == nil {
		return ""
	}
	return "a connection takes " + FormatValue("bytes", *server.Max) + " in the server and " +
		FormatValue("bytes", *generator.Max) + " in the generator, without the kernel's buffers"
}

// parted compares response time (from the intended time) with service time
// (from when it left): they part when the sender was late.
func parted(v Variant, base string) string {
	response, service := v.Metrics[base+".p99"], v.Metrics[base+"_service.p99"]
	if response.Median == nil || service.Median == nil {
		return ""
	}
	a, b := *response.Median, *service.Median
	if a-b < 1000 || a < 1.1*b {
		return ""
	}
	return fmt.Sprintf("%s.p99 is %s from the intended time, but %s from when sends left: the sender was late",
		base, FormatValue(Microseconds, a), FormatValue(Microseconds, b))
}
