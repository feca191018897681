package report_test

import (
	"bytes"
	"slices"
	"testing"

	"loadstone.dev/loadstone/internal/report"
)

func TestFilesHoldEveryForm(t *testing.T) {
	table := analyse(t, quick())
	files, err := report.Files(table)
	if err != nil {
		t.Fatal(err)
	}
	html, errHTML := report.HTML(table)
	json, errJSON := report.JSON(table)
	if errHTML != nil || errJSON != nil {
		t.Fatal(errHTML, errJSON)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	if !slices.Equal(names, []string{"report.html", "report.json"}) || !slices.Equal(names, report.FileNames()) {
		t.Errorf("files %v and names %v", names, report.FileNames())
	}
	if !bytes.Equal(files[0].Body, html) || !bytes.Equal(files[1].Body, json) {
		t.Error("a file holds another form than its name says")
	}
	if files[0].ContentType != "text/html; charset=utf-8" || files[1].ContentType != "application/json" {
		t.Errorf("types %q and %q", files[0].ContentType, files[1].ContentType)
	}
}
