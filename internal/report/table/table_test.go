package table

import (
	"html/template"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/report/chart"
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

func TestTheClassesOfATableAndItsCells(t *testing.T) {
	wide := make([]Cell, fewColumns+1)
	for name, tc := range map[string]struct{ got, want string }{
		"few columns":           {Table{Head: wide[1:]}.Class(), "few"},
		"many columns":          {Table{Head: wide}.Class(), ""},
		"cards":                 {Table{Head: wide, Cards: true}.Class(), "cards"},
		"few columns, as cards": {Table{Head: wide[1:], Cards: true}.Class(), "cards few"},
		"a word":                {Word("a").Class(), ""},
		"a number":              {Num("1").Class(), "num"},
		"a count":               {Count(1234).Class(), "num"},
		"a long text":           {Wrapped("a", "b").Class(), "wrap"},
		"a digest":              {Mono("a").Class(), "mono"},
		"a number with a tone":  {Cell{Number: true, Tone: "void"}.Class(), "num void"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("got %q, want %q", tc.got, tc.want)
			}
		})
	}
	if c := Count(int64(1234)); c.Text != "1,234" {
		t.Errorf("a count is %q", c.Text)
	}
}

func TestAColumnStaysForASecondLineAlone(t *testing.T) {
	got := Table{Head: []Cell{Word("name"), Word("some")}, Bodies: []Body{{Rows: []Row{{Cells: []Cell{Word("a"), NumSub(format.Missing, "why")}}}}}}.Finish("things", false)
	if len(got.Head) != 2 || got.Caption != "things" || got.Bodies[0].Rows[0].Cells[1].Label != "" {
		t.Errorf("table %+v", got)
	}
}

func TestATableIsPrinted(t *testing.T) {
	templates := template.Must(template.New("").Parse(`{{define "look"}}({{.Shape}}){{end}}` + Templates))
	rows := []Row{
		{Cells: []Cell{{Text: "<a>", Look: &chart.Look{Shape: "circle"}}, NumSub("1", "of 2")}, Notes: []Note{{Weight: "void", Where: "all", Text: "<b>", Scope: "s", Code: "C", Tone: "void"}}},
		{Cells: []Cell{{Text: "b", Link: "../../x"}, Num("2")}, Muted: true},
	}
	var out strings.Builder
	err := templates.ExecuteTemplate(&out, "table", Table{Head: []Cell{Word("name"), Num("n")}, Bodies: []Body{{Title: "T", Detail: "D", Rows: rows}}}.Finish("things", true))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<caption>things</caption>`, `class="cards few"`, `<th scope="col" class="num">n</th>`, `<th scope="rowgroup" colspan="2">T <small>D</small></th>`,
		`<th scope="row">(circle)&lt;a&gt;</th><td class="num" data-label="n">1 <small>of 2</small></td>`, `<tr class="muted">`, `<a href="../../x">b</a>`,
		`<tr class="note void"><td colspan="2"><strong>void</strong> (s) · all · &lt;b&gt; <small>C</small></td></tr>`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %s", want, out.String())
		}
	}
}
