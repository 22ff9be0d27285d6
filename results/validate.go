package results

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Validate checks what the JSON Schema can't say: that figures of a histogram
// are in order and null when there is no data (measuring.md, 8), that series
// are of one length, that names are the registry's, that runs, variants and the
// axes of a sweep are told apart.
func (r *Result) Validate() error {
	if !slices.Contains(Schemas(), r.Schema) {
		return fmt.Errorf("schema is %q, should be one of %s", r.Schema, strings.Join(Schemas(), ", "))
	}
	if r.Ended.Before(r.Started) {
		return fmt.Errorf("ended %s before it started %s", r.Ended, r.Started)
	}
	if want := r.Environment.hash(); r.Environment.Hash != want {
		return errors.New("environment.hash is not that of the facts beside it; use FingerprintFrom")
	}
	type id struct {
		variant string
		repeat  int
	}
	seen, numbers := map[id]bool{}, map[int]bool{}
	for i := range r.Runs {
		run := &r.Runs[i]
		where := fmt.Sprintf("runs[%d] (%s, repeat %d)", i, run.Variant, run.Repeat)
		if k := (id{run.Variant, run.Repeat}); seen[k] {
			return fmt.Errorf("%s: there is another run of this variant and repeat", where)
		} else {
			seen[k] = true
		}
		if run.Number != 0 && numbers[run.Number] {
			return fmt.Errorf("%s: there is another run with number %d", where, run.Number)
		}
		numbers[run.Number] = true
		if err := run.validate(); err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
	}
	variants := map[string]bool{}
	for i := range r.Variants {
		name := r.Variants[i].Name
		if variants[name] {
			return fmt.Errorf("variants[%d]: there is another variant %q", i, name)
		}
		variants[name] = true
	}
	return r.Sweep.validate()
}

func (s *Sweep) validate() error {
	if s == nil {
		return nil
	}
	if len(s.Vary) == 0 {
		return errors.New("sweep.vary is empty; it should name the keys that are varied, or sweep be null")
	}
	seen := map[string]bool{}
	for i, a := range s.Vary {
		where := fmt.Sprintf("sweep.vary[%d] (%s)", i, a.Key)
		switch {
		case a.Key == "":
			return fmt.Errorf("sweep.vary[%d] has no key", i)
		case seen[a.Key]:
			return fmt.Errorf("%s: there is another axis of this key", where)
		case len(a.Values) == 0:
			return fmt.Errorf("%s has no values", where)
		}
		seen[a.Key] = true
		for j, v := range a.Values {
			if slices.Contains(a.Values[:j], v) {
				return fmt.Errorf("%s has %q twice", where, v)
			}
		}
	}
	return nil
}

func (r *Run) validate() error {
	for _, name := range slices.Sorted(maps.Keys(r.Metrics)) {
		if _, ok := Lookup(name); !ok {
			return fmt.Errorf("metric %q is not in the registry", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Histograms)) {
		if _, ok := lookupStatistic(name, "p50"); !ok {
			return fmt.Errorf("histogram %q is not in the registry", name)
		}
		if err := r.Histograms[name].validate(); err != nil {
			return fmt.Errorf("histogram %s: %w", name, err)
		}
	}
	length := -1
	for _, name := range slices.Sorted(maps.Keys(r.Series.Points)) {
		n := len(r.Series.Points[name])
		if length >= 0 && n != length {
			return fmt.Errorf("series %s has %d points, others have %d", name, n, length)
		}
		length = n
	}
	for _, p := range r.Phases {
		if p.EndMs < p.StartMs {
			return fmt.Errorf("phase %s ends at %g ms, before it starts at %g ms", p.Name, p.EndMs, p.StartMs)
		}
	}
	return nil
}

func (h Histogram) validate() error {
	if h.Count < 0 || h.Overflow < 0 || h.Overflow > h.Count {
		return fmt.Errorf("count is %d with an overflow of %d", h.Count, h.Overflow)
	}
	var before string
	var last float64
	for _, name := range []string{"min", "p50", "p90", "p99", "p999", "max"} {
		x, ok := h.Statistic(name)
		if !ok {
			continue
		}
		if h.Count == 0 {
			return fmt.Errorf("%s is %g though nothing was recorded; should be null", name, x)
		}
		if before != "" && x < last {
			return fmt.Errorf("%s is %g, less than %s, which is %g", name, x, before, last)
		}
		before, last = name, x
	}
	return nil
}

// normalized returns a copy whose lists and maps are empty rather than null,
// as the JSON Schema wants them.
func (r *Result) normalized() *Result {
	c := *r
	c.Profile.Sets, c.Profile.Thresholds = list(c.Profile.Sets), list(c.Profile.Thresholds)
	c.Servers, c.Redis, c.Generators = nodes(c.Servers), nodes(c.Redis), nodes(c.Generators)
	c.Runs, c.Variants = list(slices.Clone(c.Runs)), list(slices.Clone(c.Variants))
	c.Verdict = c.Verdict.normalized()
	if c.Sweep != nil {
		sweep := *c.Sweep
		sweep.Vary = list(slices.Clone(sweep.Vary))
		for i := range sweep.Vary {
			sweep.Vary[i].Values = list(sweep.Vary[i].Values)
		}
		c.Sweep = &sweep
	}
	for i := range c.Runs {
		c.Runs[i] = c.Runs[i].normalized()
	}
	for i := range c.Variants {
		v := &c.Variants[i]
		v.Set = table(v.Set)
		v.Metrics, v.Checks, v.Verdict = table(v.Metrics), list(v.Checks), v.Verdict.normalized()
	}
	return &c
}

func (r Run) normalized() Run {
	r.Phases, r.Warnings = list(r.Phases), list(r.Warnings)
	r.Metrics, r.Histograms = table(r.Metrics), table(r.Histograms)
	r.Series.Points = table(maps.Clone(r.Series.Points))
	for name, points := range r.Series.Points {
		r.Series.Points[name] = list(points)
	}
	r.Audit.Examples = list(r.Audit.Examples)
	r.Redis.Issued, r.Redis.Commandstats = table(r.Redis.Issued), table(r.Redis.Commandstats)
	r.Acks.FlushCauses = table(r.Acks.FlushCauses)
	r.Health.Reconciliations = list(r.Health.Reconciliations)
	r.Verdict = r.Verdict.normalized()
	return r
}

// normalized makes a verdict that nobody gave an invalid one.
func (v Verdict) normalized() Verdict {
	if v.Status == "" {
		v.Status = Invalid
	}
	v.Reasons = list(v.Reasons)
	return v
}

func nodes(in []Node) []Node {
	out := make([]Node, len(in))
	for i, n := range in {
		n.PinnedCores = list(n.PinnedCores)
		out[i] = n
	}
	return out
}

func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func table[M ~map[K]V, K comparable, V any](m M) M {
	if m == nil {
		return M{}
	}
	return m
}
