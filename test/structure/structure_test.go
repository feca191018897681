package structure

import (
	"path"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report"
)

func TestAReportHasTheFieldsOfAllElementsOfItsLists(t *testing.T) {
	files := []report.File{
		{Name: "report.html", ContentType: "text/html; charset=utf-8", Body: []byte(`<section class="a" id="plan"><section id="noise">`)},
		{Name: "report.json", ContentType: "application/json", Body: []byte(`{"groups": [{"cells": [{"raw": "a"}, {"reasons": [{"code": "Steal"}], "errors": {"read": 0}}]}, {"role": "b", "cells": []}], "scaling": null}`)},
	}
	const want = `manifest blocks
manifest ended
manifest operator
manifest plan
manifest run
manifest schema
manifest started
manifest trials
report groups
report groups.cells
report groups.cells.errors
report groups.cells.errors.read
report groups.cells.raw
report groups.role
report scaling
section plan
`
	got, err := Of(record.RunData{}, files)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
}

func TestAbsencesHaveValidPatternsAndReasons(t *testing.T) {
	for _, a := range byChance {
		if _, err := path.Match(a.pattern, ""); err != nil || a.why == "" {
			t.Errorf("%q has the reason %q, %v", a.pattern, a.why, err)
		}
	}
}

func TestUnreadableDataIsAnError(t *testing.T) {
	if got, err := Of(record.RunData{}, []report.File{{ContentType: "application/json", Body: []byte("{")}}); err == nil {
		t.Errorf("it is %q", got)
	}
}
