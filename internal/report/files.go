package report

import (
	"bytes"
	"encoding/json"
	"fmt"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/report/view"
)

// File is a report in one of its forms, as it is stored and fetched.
type File struct {
	Name        string
	ContentType string
	Body        []byte
}

// form is a way to print a table.
type form struct {
	name, contentType string
	print             func(analysis.Table) ([]byte, error)
}

// pageFile is the name of the page, which the other forms lead to.
const pageFile = "report.html"

const (
	// MarkdownFile is the name of the form that stands in comments.
	MarkdownFile = "report.md"
	// TestsFile is the name of the form that pipelines make a list of tests of.
	TestsFile = "junit.xml"
)

// forms are all there are. The first is the page for people, by which a report is known; another form is another line.
var forms = []form{
	{pageFile, "text/html; charset=utf-8", HTML},
	{"report.json", "application/json", JSON},
	{MarkdownFile, "text/markdown; charset=utf-8", Markdown},
	{"report.csv", "text/csv; charset=utf-8", CSV},
	{TestsFile, "application/xml", JUnit},
}

// Files prints the table in every form, in the order of FileNames.
func Files(t analysis.Table) ([]File, error) {
	out := make([]File, len(forms))
	for i, f := range forms {
		body, err := f.print(t)
		if err != nil {
			return nil, err
		}
		out[i] = File{Name: f.name, ContentType: f.contentType, Body: body}
	}
	return out, nil
}

// FileNames are the names of a report's files. The first is that of the page for people.
func FileNames() []string {
	names := make([]string, len(forms))
	for i, f := range forms {
		names[i] = f.name
	}
	return names
}

// HTML prints the table for people, as one file that needs nothing else.
func HTML(t analysis.Table) ([]byte, error) {
	out, err := pageOf(view.New(t, phrase.English)).HTML()
	if err != nil {
		return nil, fmt.Errorf("printing the report of run %s: %w", t.Run.Name, err)
	}
	return out, nil
}

// pageOf is the page of a table.
func pageOf(v *view.View) page.Page {
	r := v.Table.Run
	return page.Page{
		Lang: v.Say("lang"), Title: v.Say("title", r.Name), Kicker: v.Say("kicker"), Run: r.Namespace + "/" + r.Name,
		When:     v.Say("run.when", format.Instant(r.Started), format.Instant(r.Ended)),
		Headline: run{v}.headline(), Badges: run{v}.badges(),
		ContentsTitle: v.Say("contents.title"), Sections: sections(v),
	}
}

// Schema names the shape of the JSON report. Fields may be added to it; none changes its name, its unit or its meaning.
const Schema = "loadstone.dev/report/v1"

// document is the JSON report: the table with its schema and its headline. Field names carry their units.
type document struct {
	Schema   string            `json:"schema"`
	Verdict  string            `json:"verdict"`
	Headline analysis.Headline `json:"headline"`
	analysis.Table
}

// JSON prints the table for programs.
func JSON(t analysis.Table) ([]byte, error) {
	h := t.Headline()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetIndent("", "  ")
	if err := e.Encode(document{Schema: Schema, Verdict: Line(h), Headline: h, Table: t}); err != nil {
		return nil, fmt.Errorf("encoding the report of run %s: %w", t.Run.Name, err)
	}
	return out.Bytes(), nil
}

// Line puts a headline into one line of ASCII of at most 512 bytes: the objectives first, then who is better.
func Line(h analysis.Headline) string { return phrase.English.Line(h) }

// Short is Line in a word or two, for a column of kubectl get.
func Short(h analysis.Headline) string { return phrase.Short(h) }

// ObjectivesLine returns in one line of ASCII of at most 512 bytes which objectives keep a run from succeeding: those missed, else those
// undecided.
func ObjectivesLine(t analysis.Table) string { return phrase.English.ObjectivesLine(t) }

// NoiseLine returns in one line what an A/A run has found, or that it has found nothing.
func NoiseLine(t analysis.Table) string { return phrase.English.NoiseLine(t) }
