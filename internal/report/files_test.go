package report_test

import (
	"bytes"
	"slices"
	"testing"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/report"
)

func TestFilesHoldEveryForm(t *testing.T) {
	table := analyse(t, quick())
	files, err := report.Files(table)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	if !slices.Equal(names, []string{"report.html", "report.json", "report.md", "report.csv", "junit.xml"}) || !slices.Equal(names, report.FileNames()) {
		t.Errorf("files %v and names %v", names, report.FileNames())
	}
	for k, want := range []struct {
		print func(analysis.Table) ([]byte, error)
		of    string
	}{
		{report.HTML, "text/html; charset=utf-8"},
		{report.JSON, "application/json"},
		{report.Markdown, "text/markdown; charset=utf-8"},
		{report.CSV, "text/csv; charset=utf-8"},
		{report.JUnit, "application/xml"},
	} {
		body, err := want.print(table)
		if err != nil || !bytes.Equal(files[k].Body, body) || files[k].ContentType != want.of {
			t.Errorf("%s of type %q holds another form than its name says: %v", files[k].Name, files[k].ContentType, err)
		}
	}
}
