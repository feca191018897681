package report

import (
	"fmt"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/report/view"
)

// File is a report in one of its forms, as stored.
type File struct {
	Name        string
	ContentType string
	Body        []byte
}

type form struct {
	name, contentType string
	print             func(analysis.Table) ([]byte, error)
}

// pageFile is the page, which the other forms refer to.
const pageFile = "report.html"

const (
	// MarkdownFile is the form for comments.
	MarkdownFile = "report.md"
	// TestsFile is the form for pipelines.
	TestsFile = "junit.xml"
)

// forms lists all forms, the page first. A new form adds a line here.
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

// FileNames returns the names of a report's files, the page first.
func FileNames() []string {
	names := make([]string, len(forms))
	for i, f := range forms {
		names[i] = f.name
	}
	return names
}

// HTML prints the table as one self-contained page.
func HTML(t analysis.Table) ([]byte, error) {
	out, err := pageOf(view.New(t, phrase.English)).HTML()
	if err != nil {
		return nil, fmt.Errorf("printing the report of run %s: %w", t.Run.Name, err)
	}
	return out, nil
}

func pageOf(v *view.View) page.Page {
	r := v.Table.Run
	return page.Page{
		Lang: v.Say("lang"), Title: v.Say("title", r.Name), Kicker: v.Say("kicker"), Run: r.Namespace + "/" + r.Name,
		When:     v.Say("run.when", format.Instant(r.Started), format.Instant(r.Ended)),
		Headline: run{v}.headline(), Badges: run{v}.badges(),
		ContentsTitle: v.Say("contents.title"), Sections: sections(v),
	}
}

// Schema is the schema of the JSON report. Fields may be added; existing ones keep name, unit and meaning.
const Schema = "loadstone.dev/report/v1"

type document struct {
	Schema   string            `json:"schema"`
	Verdict  string            `json:"verdict"`
	Headline analysis.Headline `json:"headline"`
	analysis.Table
}

// JSON prints the table for programs.
func JSON(t analysis.Table) ([]byte, error) {
	h := t.Headline()
	out, err := indented(document{Schema: Schema, Verdict: Line(h), Headline: h, Table: t})
	if err != nil {
		return nil, fmt.Errorf("encoding the report of run %s: %w", t.Run.Name, err)
	}
	return out, nil
}

// Line prints a headline as one line of at most 512 ASCII bytes: objectives first, then winners.
func Line(h analysis.Headline) string { return phrase.English.Line(h) }

// Short prints a headline in a word or two, for a column of kubectl get.
func Short(h analysis.Headline) string { return phrase.Short(h) }

// ObjectivesLine names, in at most 512 ASCII bytes, the missed objectives, or else the undecided ones.
func ObjectivesLine(t analysis.Table) string { return phrase.English.ObjectivesLine(t) }

// NoiseLine describes the result of an A/A run in one line.
func NoiseLine(t analysis.Table) string { return phrase.English.NoiseLine(t) }
