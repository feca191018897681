package table

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/report/format"
)

func TestATableLeavesOutItsEmptyColumns(t *testing.T) {
	of := func(words ...string) Row {
		r := Row{}
		for _, w := range words {
			r.Cells = append(r.Cells, Word(w))
		}
		return r
	}
	got := Table{
		Head:   []Cell{Word("name"), Word("none"), Word("some"), Word("all")},
		Bodies: []Body{{Rows: []Row{of("a", format.Missing, format.Missing, "1"), of("b", "", "2", "3")}}},
	}.Finish("things", true)
	var head []string
	for _, c := range got.Head {
		head = append(head, c.Text)
	}
	if diff := cmp.Diff([]string{"name", "some", "all"}, head); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	if cells := got.Bodies[0].Rows[1].Cells; len(cells) != 3 || cells[0].Label != "" || cells[1].Label != "some" || cells[2].Label != "all" {
		t.Errorf("cells %+v", cells)
	}
	if c := got.Bodies[0].Rows[0].Cells[1]; c.Tone != "nil" {
		t.Errorf("an empty cell is %+v", c)
	}
}
