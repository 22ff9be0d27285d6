package results

import (
	"io"

	"github.com/olekukonko/tablewriter/tw"
)

// RenderRows draws a plain table in the style of the reports: the first row is
// its header, the first `left` columns and the last are aligned to the left, as
// words are, the others to the right, as numbers.
func RenderRows(w io.Writer, rows [][]string, left int) error {
	heads := make([][]string, len(rows[0]))
	align := make([]tw.Align, len(heads))
	for i, h := range rows[0] {
		heads[i], align[i] = []string{h}, tw.AlignRight
		if i < left || i == len(heads)-1 {
			align[i] = tw.AlignLeft
		}
	}
	return drawPlain(w, heads, rows[1:], align)
}
