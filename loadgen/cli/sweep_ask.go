package cli

import (
	"net/url"
	"strings"
	"time"

	"ackmark/loadgen/engine"
	"ackmark/profiles"
	"ackmark/results"
	"ackmark/results/sweep"
)

// ask reads what is to be chosen, by the flags or else by the profile.
func (s *sweeping) ask(o *sweepOptions) error {
	p := s.cfg.Settings[0].Profile
	at := func(key string) string { return s.cfg.Source.At(key).String() }
	chosen, subject, pareto := p.Choose, p.SubjectTo, p.Pareto
	from := map[string]string{"choose": at("choose"), "subject": at("subject_to"), "pareto": at("pareto")}
	if o.given("choose") && strings.TrimSpace(o.choose) == "" {
		return usagef("--choose names no metric; it should be one, e.g. cpu")
	}
	if o.choose != "" {
		chosen, from["choose"] = strings.TrimSpace(o.choose), "--choose"
	}
	s.before = !o.given("subject-to") && len(o.subjectTo) > 0 // of the plan
	switch {
	case o.dropsSubject(), o.given("resume") && len(o.subjectTo) == 0: // the plan has what the profile said, unless it was dropped
		subject = nil
	case len(o.subjectTo) > 0:
		subject, from["subject"] = nil, "--subject-to"
		for _, text := range o.subjectTo {
			for part := range strings.SplitSeq(text, ",") {
				subject = append(subject, strings.TrimSpace(part))
			}
		}
	}
	if o.pareto != "" || o.given("pareto") {
		pareto, from["pareto"] = nil, "--pareto"
		for part := range strings.SplitSeq(o.pareto, ",") {
			pareto = append(pareto, strings.TrimSpace(part))
		}
	}
	for _, part := range []struct {
		from            string
		choose          string
		subject, pareto []string
	}{{from["choose"], chosen, nil, nil}, {from["subject"], "", subject, nil}, {from["pareto"], "", nil, pareto}} {
		if _, err := sweep.NewQuestion(part.choose, part.subject, part.pareto); err != nil {
			return usagef("%s: %w", part.from, err)
		}
	}
	if len(subject) > 0 && chosen == "" {
		return usagef("%s: what must be met is said, but not what to choose by; add --choose, e.g. --choose cpu", from["subject"])
	}
	o.choose, o.subjectTo, o.pareto = chosen, subject, strings.Join(pareto, ",")
	var err error
	s.question, err = sweep.NewQuestion(chosen, subject, pareto)
	return err
}

// dropsSubject tells that nothing need be met, whatever the profile or the sweep
// had.
func (o *sweepOptions) dropsSubject() bool {
	if !o.given("subject-to") {
		return false
	}
	text := strings.TrimSpace(strings.Join(o.subjectTo, ""))
	return text == "" || text == "none"
}

// asked is the question in words, for who goes on with a sweep and may have
// forgotten what was asked.
func (s *sweeping) asked(o *sweepOptions) string {
	text := "asked: the best in " + s.question.Objective.Name
	if len(o.subjectTo) == 0 {
		return text + ", subject to nothing"
	}
	text += ", subject to " + strings.Join(o.subjectTo, ", ")
	if s.before {
		text += "; that is kept from before, and --subject-to none drops it"
	}
	return text
}

const (
	storePrivate  = "private Redis"
	storeEmbedded = "embedded store"
	storeTarget   = "target " // and its address
	storeRedis    = "Redis "  // and its address
)

// storeFlag is what names the store of a plan again; "" is nothing.
func storeFlag(store string) string {
	switch {
	case strings.HasPrefix(store, storeTarget):
		return "--target, and its secrets"
	case strings.HasPrefix(store, storeRedis):
		return "--redis"
	}
	return ""
}

// storeText says where the runs' store or server is, without what may be secret.
func storeText(o *measureFlags) string {
	switch {
	case o.target != "":
		return storeTarget + o.target
	case o.embedded:
		return storeEmbedded
	case o.redis == "":
		return storePrivate
	}
	u, err := url.Parse(o.redis)
	if err != nil {
		return storeRedis + "given"
	}
	return storeRedis + u.Host + u.Path
}

func newPlan(source *profiles.Source, axes []profiles.Axis, cfg engine.Config, o *sweepOptions) *sweep.Plan {
	first := cfg.Settings[0].Profile
	p := &sweep.Plan{
		Schema: sweep.PlanSchema, ResultSchema: results.SchemaCurrent, ToolVersion: cfg.ToolVersion, Started: time.Now().UTC(),
		File: source.File(), Source: string(source.YAML()), Hash: profiles.HashSettings(cfg.Settings), Seed: first.Seed, Repeats: first.Repeats,
		Sets: cfg.Sets, Variants: o.variants, Skip: o.skip, Order: o.orderSeed, Store: storeText(&o.measureFlags),
		Choose: o.choose, SubjectTo: o.subjectTo, Environment: results.FingerprintFrom(results.Collect("")),
	}
	if o.pareto != "" {
		p.Pareto = strings.Split(o.pareto, ",")
	}
	if !o.given("order-seed") {
		p.Order = p.Seed
	}
	for _, a := range axes {
		p.Vary = append(p.Vary, results.Axis{Key: a.Key, Values: a.Values})
	}
	for _, set := range cfg.Settings {
		seconds := (set.Profile.Phases.Warmup + set.Profile.Phases.Measure).Std().Seconds()
		p.Points = append(p.Points, sweep.PlanPoint{Name: set.Name, Set: set.Set, Seconds: seconds})
	}
	return p
}
