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

// Round is a round of a suite that has ended.
type Round struct {
	Suite *v1alpha1.BenchmarkSuite
	// Line is what the suite's history says of it, and Runs are those of its runs that are in the cluster, in their order.
	Line v1alpha1.SuiteRound
	Runs []Run
	// Of is how many runs the round has had; 0 if none is left that could tell.
	Of int

	event notify.Event
}

// Run is a run of a round.
type Run struct {
	// Name is the run's in the suite.
	Name   string
	Object *v1alpha1.BenchmarkRun
	// Tests and Page are the files report.TestsFile and report.MarkdownFile of its report; empty if there are none.
	Tests, Page []byte
	// Lacks is why it has no report, or why one of the files is not to be had, in a clause; empty if nothing is missing.
	Lacks string
}

// Of is a round of a suite, by the runs that the suite has. What their reports say is for the caller to fill in.
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

// size is how many runs the round of a run has, as the run knows.
func size(run *v1alpha1.BenchmarkRun) int {
	var record struct {
		Runs int `json:"runs"`
	}
	if json.Unmarshal([]byte(run.Annotations[v1alpha1.AnnotationRound]), &record) != nil {
		return 0
	}
	return record.Runs
}

// End is how a round has ended, in a sentence.
func End(line v1alpha1.SuiteRound) string {
	text := fmt.Sprintf("round %d: %s", line.Round, strings.ToLower(string(line.Outcome)))
	if line.Message != "" {
		text += ": " + line.Message
	}
	return text
}

// Files are the round as a pipeline shows it: its tests come first.
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

// page is the round in Markdown.
func (r Round) page() string {
	var pages []notify.Printed
	for _, run := range r.Runs {
		p := notify.Printed{Text: string(run.Page)}
		if run.Lacks != "" {
			p.Why = "Its report is not here: " + run.Lacks + "."
		}
		pages = append(pages, p)
	}
	return notify.CommentOf(r.event, notify.Place{}, r.Suite.Spec.Gate, "", pages)
}
