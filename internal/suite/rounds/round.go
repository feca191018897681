package rounds

import (
	"encoding/json"
	"fmt"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/suite"
	"loadstone.dev/loadstone/internal/suite/notify"
)

// Round is an ended round of a suite.
type Round struct {
	Suite *v1alpha1.BenchmarkSuite
	// Line is its history entry, Runs its runs in the cluster, in order.
	Line v1alpha1.SuiteRound
	Runs []Run
	// Of is how many runs it had; 0 if none is left to tell.
	Of int

	event notify.Event
}

// Run is a run of the round with the files of its report.
type Run struct {
	// Name is the run's name in the suite.
	Name   string
	Object *v1alpha1.BenchmarkRun
	// Tests and Page are the report's files report.TestsFile and report.MarkdownFile; empty if missing.
	Tests, Page []byte
	// Lacks says why the report or a file is missing; empty if nothing is.
	Lacks string
}

// Of returns a round by the suite's runs. The caller fills in their reports.
func Of(s *v1alpha1.BenchmarkSuite, runs []v1alpha1.BenchmarkRun, line v1alpha1.SuiteRound) Round {
	r := Round{Suite: s, Line: line, event: suite.Told(s, runs, line)}
	for _, told := range r.event.Data.Runs {
		for i := range runs {
			if runs[i].Name == told.BenchmarkRun {
				r.Runs = append(r.Runs, Run{Name: told.Name, Object: &runs[i]})
				r.Of = max(r.Of, size(&runs[i]))
			}
		}
	}
	return r
}

func size(run *v1alpha1.BenchmarkRun) int {
	var record struct {
		Runs int `json:"runs"`
	}
	if json.Unmarshal([]byte(run.Annotations[v1alpha1.AnnotationRound]), &record) != nil {
		return 0
	}
	return record.Runs
}

// End describes how a round ended.
func End(line v1alpha1.SuiteRound) string {
	text := fmt.Sprintf("round %d: %s", line.Round, strings.ToLower(string(line.Outcome)))
	if line.Message != "" {
		text += ": " + line.Message
	}
	return text
}

// Files returns the round for a pipeline, tests first.
func (r Round) Files() ([]report.File, error) {
	tests, err := r.tests()
	if err != nil {
		return nil, err
	}
	return []report.File{
		{Name: report.TestsFile, ContentType: "application/xml", Body: tests},
		{Name: report.MarkdownFile, ContentType: "text/markdown; charset=utf-8", Body: []byte(r.page())},
	}, nil
}

func (r Round) page() string {
	var pages []notify.Printed
	for _, run := range r.Runs {
		p := notify.Printed{Text: string(run.Page)}
		if run.Lacks != "" {
			p.Why = "Its report is missing: " + run.Lacks + "."
		}
		pages = append(pages, p)
	}
	return notify.CommentOf(r.event, notify.Place{}, r.Suite.Spec.Gate, "", pages)
}
