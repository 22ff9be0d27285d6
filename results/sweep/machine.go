package sweep

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"
	"strings"

	"ackmark/results"
)

// RenderCSV writes a row per point: the axes by their keys, then the figures of
// the tables, each with the least and greatest of the repeats as KEY_min and
// KEY_max. Units are in the names; an empty field is a number not known.
func (t *Table) RenderCSV(w io.Writer) error {
	header := []string{"point", "variant"}
	for _, a := range t.Axes {
		header = append(header, a.Key)
	}
	header = append(header, "repeats", "verdict", "pareto", "recommended")
	cols := t.all()
	for _, c := range cols {
		header = append(header, c.Key, c.Key+"_min", c.Key+"_max")
	}
	records := [][]string{header}
	for _, r := range t.Rows {
		record := append([]string{r.Name, r.Variant}, r.Values...)
		record = append(record, strconv.Itoa(r.repeats()), string(r.Status), yes(r.Front), yes(t.recommended(r)))
		for _, c := range cols {
			cell := c.cell(r)
			record = append(record, plain(cell.Value), plain(cell.Min), plain(cell.Max))
		}
		records = append(records, record)
	}
	return csv.NewWriter(w).WriteAll(records)
}

func yes(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// plain writes a number for machines: six significant digits or more, no
// exponent.
func plain(v *float64) string {
	if v == nil {
		return ""
	}
	decimals := 0
	if *v != 0 {
		decimals = max(0, 5-int(math.Floor(math.Log10(math.Abs(*v)))))
	}
	s := strconv.FormatFloat(*v, 'f', decimals, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// TableSchema is the format of a Document.
const TableSchema = "ackmark/sweep-table/v1"

// Document is the table for machines.
type Document struct {
	Schema         string         `json:"schema"`
	Profile        string         `json:"profile"`
	Vary           []results.Axis `json:"vary"`
	Cost           string         `json:"cost"` // metrics of the Pareto front; "" is none
	Risk           string         `json:"risk"`
	Verdict        results.Status `json:"verdict"`
	Points         []Point        `json:"points"`
	Recommendation *Advised       `json:"recommendation"` // null: nothing was to be chosen
}

// Point is one row. The figures are those of the CSV file, by its names, which say
// the unit; null where not known.
type Point struct {
	Point    string              `json:"point"`
	Variant  string              `json:"variant"`
	Set      map[string]string   `json:"set"`
	Repeats  int                 `json:"repeats"`
	Verdict  results.Status      `json:"verdict"` // one of a result, or NotMeasured, or Incomplete
	Pareto   bool                `json:"pareto"`
	Excluded []string            `json:"excluded"` // why it can't be chosen; empty: it can, or nothing is chosen
	Figures  map[string]*float64 `json:"figures"`
}

// Advised is the recommendation.
type Advised struct {
	Objective   string   `json:"objective"`
	Constraints []string `json:"constraints"`
	Point       *string  `json:"point"`     // null: none is eligible
	Value       *float64 `json:"value"`     // of the objective
	Unit        string   `json:"unit"`      // of the value: "us", "bytes", "percent", "ratio", "/s", "" for a number
	NoChoice    bool     `json:"no_choice"` // the point is the only one that could be judged: don't take it for a recommendation
	Judged      int      `json:"judged"`    // points that could be judged
	Unjudged    []string `json:"unjudged"`  // points that couldn't, and might be better; their verdicts say why
	Sure        *float64 `json:"sure"`      // share of resamples, null with one repeat
	Alike       []string `json:"alike"`     // points that aren't told apart from it
	Text        []string `json:"text"`
}

// Document gives the table for machines.
func (t *Table) Document() Document {
	d := Document{
		Schema: TableSchema, Profile: t.result.Profile.Name, Vary: t.Axes, Cost: t.Question.Cost.Name, Risk: t.Question.Risk.Name,
		Verdict: t.result.Verdict.Status, Points: []Point{},
	}
	cols := t.all()
	for _, r := range t.Rows {
		p := Point{Point: r.Name, Variant: r.Variant, Set: r.Set, Repeats: r.repeats(), Verdict: r.Status, Pareto: r.Front, Excluded: []string{}, Figures: map[string]*float64{}}
		if t.Choice != nil {
			for _, e := range r.why(&t.Question, asMeasured) {
				p.Excluded = append(p.Excluded, e.text)
			}
		}
		for _, c := range cols {
			p.Figures[c.Key] = c.cell(r).Value
		}
		d.Points = append(d.Points, p)
	}
	if rec := t.Choice; rec != nil {
		a := &Advised{Objective: t.Question.Objective.Name, Unit: t.Question.Objective.Unit, Constraints: []string{}, Sure: rec.Sure, Alike: []string{}, Text: t.Advice(),
			NoChoice: rec.NoChoice, Judged: len(t.Rows) - len(rec.Unjudged), Unjudged: []string{}}
		for _, r := range rec.Unjudged {
			a.Unjudged = append(a.Unjudged, r.Name)
		}
		for _, c := range t.Question.Constraints {
			a.Constraints = append(a.Constraints, c.Text)
		}
		if rec.Point != nil {
			a.Point, a.Value = &rec.Point.Name, results.Number(rec.Value)
		}
		for _, r := range rec.Alike {
			a.Alike = append(a.Alike, r.Name)
		}
		d.Recommendation = a
	}
	return d
}
