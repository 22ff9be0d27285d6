package compare

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"ackmark/results"
)

// distinct leaves out results that a side holds twice, as copies of a directory
// do, since a run that is counted twice makes two samples of one. What several
// sides hold is kept and told: it can't differ from itself.
func distinct(sides []Side) (out []Side, told []string) {
	var all [][]string // identities per side
	for i, s := range sides {
		var have []string
		kept := Side{Label: s.Label}
		for _, r := range s.Results {
			id := identity(r)
			if id != "" && slices.Contains(have, id) {
				continue
			}
			have = append(have, id)
			kept.Results = append(kept.Results, r)
		}
		if n := len(s.Results) - len(kept.Results); n > 0 {
			told = append(told, fmt.Sprintf("%s holds %s more than once; each is counted once", letter(i), results.Plural(n, "result")))
		}
		for k := range i {
			shared := 0
			for _, id := range have {
				if id != "" && slices.Contains(all[k], id) {
					shared++
				}
			}
			if shared > 0 {
				told = append(told, fmt.Sprintf("%s and %s both hold %s: what they share can't differ", letter(k), letter(i), sameResults(shared)))
			}
		}
		all, out = append(all, have), append(out, kept)
	}
	return out, told
}

func sameResults(n int) string {
	if n == 1 {
		return "the same result"
	}
	return fmt.Sprintf("the same %d results", n)
}

// identity is the same for copies of a result, whichever version of the format
// they are in; "" for one without runs.
func identity(r *results.Result) string {
	if len(r.Runs) == 0 {
		return ""
	}
	h := sha256.New()
	fmt.Fprintln(h, r.Started.UnixNano(), r.Profile.Name, r.Environment.Hash)
	for i := range r.Runs {
		run := &r.Runs[i]
		metrics, err := json.Marshal(run.Metrics)
		if err != nil {
			return ""
		}
		fmt.Fprintf(h, "%q %d %d %s\n", run.Variant, run.Repeat, run.Seed, metrics)
	}
	return string(h.Sum(nil))
}
