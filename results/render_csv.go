package results

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
)

// RenderCSV writes a row per variant. Each column of the tables gives three:
// the figure itself, and the least and greatest of the repeats as KEY_min and
// KEY_max. Units are in the names; an empty field is a number not known.
func RenderCSV(w io.Writer, rep Report) error {
	c := csv.NewWriter(w)
	header := []string{"variant", "repeats", "verdict"}
	for _, col := range rep.Columns {
		header = append(header, col.Key, col.Key+"_min", col.Key+"_max")
	}
	records := [][]string{header}
	for _, row := range rep.Rows {
		record := []string{row.Variant, strconv.Itoa(row.Repeats), string(row.Status)}
		for _, cell := range row.Cells {
			record = append(record, plainNumber(cell.Value), plainNumber(cell.Min), plainNumber(cell.Max))
		}
		records = append(records, record)
	}
	return c.WriteAll(records)
}

// plainNumber writes a number for machines: six significant digits or more,
// no comma, no exponent.
func plainNumber(v *float64) string {
	if v == nil {
		return ""
	}
	s := strconv.FormatFloat(*v, 'f', decimalsFor(*v, 6), 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
