package results

import (
	"slices"
	"strings"
)

// rung is a variant with those that are the same with crashes.
type rung struct {
	variant Variant
	crashed []Variant
}

// rungs puts each variant that crashes with the one that doesn't. One whose
// other half wasn't measured stands alone.
func (r *Result) rungs() []rung {
	var out []rung
	for _, v := range r.Variants {
		i := slices.IndexFunc(out, func(o rung) bool { return v.CrashOf != "" && o.variant.Name == v.CrashOf })
		if i < 0 {
			out = append(out, rung{variant: v})
			continue
		}
		out[i].crashed = append(out[i].crashed, v)
	}
	return out
}

// hasLogins tells a run of logins, which has figures of its own.
func (r *Result) hasLogins() bool {
	return slices.ContainsFunc(r.Variants, func(v Variant) bool {
		return v.CrashOf != "" || v.Metrics["requests_per_login"].Median != nil
	})
}

func (r rung) row(columns []Column) Row {
	row := Row{Variant: r.variant.Name, Repeats: r.variant.Repeats}
	verdicts := []Verdict{r.variant.Verdict}
	for _, v := range r.crashed {
		verdicts = append(verdicts, v.Verdict)
	}
	row.Status = worst(verdicts).Status
	for _, c := range columns {
		if !c.crash {
			row.Cells = append(row.Cells, c.cell(r.variant.Metrics[c.name]))
			continue
		}
		var cell Cell
		for _, v := range r.crashed {
			cell = cell.worse(c.cell(v.Metrics[c.name]))
		}
		row.Cells = append(row.Cells, cell)
	}
	return row
}

// worse joins the worst repeats of two variants.
func (c Cell) worse(d Cell) Cell {
	switch {
	case c.Value == nil:
		return d
	case d.Value == nil:
		return c
	}
	return Cell{Value: Number(max(*c.Value, *d.Value)), Min: Number(min(*c.Min, *d.Min)), Max: Number(max(*c.Max, *d.Max))}
}

// met says what variants were expected to show, and did: a rung that loses by
// design passes, and nobody should think that it lost nothing.
func met(r *Result) []string {
	var texts []string
	by := map[string][]string{}
	for _, v := range r.Variants {
		for _, c := range v.Checks {
			if c.Source != FromExpect || c.Status != Pass {
				continue
			}
			if by[c.Expression] == nil {
				texts = append(texts, c.Expression)
			}
			by[c.Expression] = append(by[c.Expression], v.Name)
		}
	}
	for i, text := range texts {
		texts[i] = "as expected, " + text + ": " + strings.Join(by[text], ", ")
	}
	return texts
}
