package page

import (
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/report/chart"
	"loadstone.dev/loadstone/internal/report/table"
)

var kinds = Templates(`
{{define "profile"}}{{with .Data}}
<section id="{{$.ID}}"><h2>{{$.Title}}</h2><p>{{.}}</p></section>{{end}}{{end}}
{{define "tabled"}}{{template "extra" .}}{{end}}
{{define "drawn"}}{{with .Data}}{{template "chart" .}}{{end}}{{end}}
{{define "facts of it"}}{{template "facts" .Data}}{{end}}`)

func printed(t *testing.T, sections ...Section) string {
	t.Helper()
	out, err := Page{
		Lang: "en", Title: "t", Run: "ns/run", Headline: []Entry{{Title: "first", Lines: []string{"", "why"}}, {Title: "second", Tone: "slower"}},
		Badges: []Badge{{Text: "all is well", Tone: "good"}}, Sections: sections,
	}.HTML()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestAPageShowsTheSectionsThatHaveData(t *testing.T) {
	section := func(title string, data any) Section {
		return Section{ID: "profile", Title: title, Templates: kinds, Data: data}
	}
	for name, tc := range map[string]struct {
		sections []Section
		want     string
	}{
		"none":                      {nil, `<ul></ul></nav><main></main>`},
		"one":                       {[]Section{section("A", "a")}, `<ul><li><a href="#profile">A</a></li></ul></nav><main><section id="profile"><h2>A</h2><p>a</p></section></main>`},
		"one without data":          {[]Section{section("A", nil)}, `<ul></ul></nav><main></main>`},
		"in the order of the list":  {[]Section{section("B", "b"), section("A", nil), section("C", "c")}, `<h2>B</h2><p>b</p></section><section id="profile"><h2>C</h2>`},
		"text from outside is text": {[]Section{section("A", `</p><script>`)}, `<p>&lt;/p&gt;&lt;script&gt;</p>`},
		"and so is it in a heading": {[]Section{section(`"><b>`, "a")}, `<h2>&#34;&gt;&lt;b&gt;</h2>`},
	} {
		t.Run(name, func(t *testing.T) {
			if out := strings.ReplaceAll(printed(t, tc.sections...), "\n", ""); !strings.Contains(out, tc.want) {
				t.Errorf("no %s in %s", tc.want, out[strings.Index(out, "<nav"):])
			}
		})
	}
}

func TestASectionCanUseWhatPagesAreMadeOf(t *testing.T) {
	rows := table.Table{Head: []table.Cell{table.Word("h")}, Bodies: []table.Body{{Rows: []table.Row{{Cells: []table.Cell{table.Word("x")}}}}}}
	for name, tc := range map[string]struct {
		section Section
		want    []string
		never   []string
	}{
		"leads and a table": {
			Section{ID: "tabled", Title: "A", Data: Extra{Leads: []string{"one", "two"}, Table: rows}},
			[]string{`<section id="tabled">`, `<p class="lead">one</p>`, `<p class="lead">two</p>`, `<th scope="row">x</th>`},
			[]string{"<details>"},
		},
		"a folded table": {
			Section{ID: "tabled", Data: Extra{FoldedTitle: "more", Folded: rows}},
			[]string{"<details><summary>more</summary>"},
			nil,
		},
		"a chart": {
			Section{ID: "drawn", Data: chart.Chart{Title: "C", Unit: "u", Name: "N", Plot: []chart.Mark{chart.Text("1%", "2", "end", "tick", "<7>")}}},
			[]string{`<strong>C</strong> <span>u</span>`, `aria-label="N"`, `<text x="1%" y="2" text-anchor="end" class="tick">&lt;7&gt;</text>`},
			[]string{"<b>", `class="wide"`},
		},
		"facts": {
			Section{ID: "facts of it", Data: []Fact{{Name: "CPU", Values: []string{"a", "b"}, Differs: "differs"}}},
			[]string{`<div class="differs"><dt>CPU <em>differs</em></dt><dd><span>a</span><span>b</span></dd></div>`},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.section.Templates = kinds
			out := printed(t, tc.section)
			_, out, _ = strings.Cut(out, "<main>")
			for _, want := range tc.want {
				if !strings.Contains(out, want) {
					t.Errorf("no %s in %s", want, out)
				}
			}
			for _, never := range tc.never {
				if strings.Contains(out, never) {
					t.Errorf("there is %s in %s", never, out)
				}
			}
		})
	}
}

func TestThePageBeginsWithTheHeadline(t *testing.T) {
	out := printed(t)
	for _, want := range []string{
		`<div class="entry first "><h1>first</h1>` + "\n<p>why</p>", `<div class="entry slower"><h2>second</h2>`, `<li class="good">all is well</li>`,
		`<span class="run">ns/run</span>`, ":root {",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestASectionWithoutItsTemplateIsAnError(t *testing.T) {
	_, err := Page{Sections: []Section{{ID: "nowhere", Templates: kinds}}}.HTML()
	if err == nil || !strings.Contains(err.Error(), "printing the section nowhere: ") {
		t.Errorf("the error is %v", err)
	}
}
