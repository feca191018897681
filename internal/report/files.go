package report

import "loadstone.dev/loadstone/internal/analysis"

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
