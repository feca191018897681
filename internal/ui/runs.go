package ui

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/report/format"
)

const mostRuns = 200

type runRow struct {
	Namespace, Name, Path string
	Standing              standing
	Progress, Left        string
	Created               *moment
	Verdict               string
}

func rowOf(r *v1alpha1.BenchmarkRun, now time.Time) runRow {
	row := runRow{
		Namespace: r.Namespace, Name: r.Name, Path: RunPath(r.Namespace, r.Name), Standing: standingOf(r),
		Created: momentOf(r.CreationTimestamp.Time, now), Verdict: verdictOf(r),
	}
	if r.Status.CompletionTime == nil {
		row.Progress, row.Left = r.Status.Progress, r.Status.TimeLeft
	}
	return row
}

// RunPath returns the path of a run's page.
func RunPath(namespace, name string) string {
	return RunsPath + "/" + url.PathEscape(namespace) + "/" + url.PathEscape(name)
}

// FilePath returns a run's file's path on the site, by its path below the run's folder in the store.
func FilePath(namespace, name, file string) string {
	return RunPath(namespace, name) + "/files/" + (&url.URL{Path: file}).EscapedPath()
}

type runsBody struct {
	Rows []runRow
	// Only is the requested namespace; empty for all.
	Only  string
	Older string
}

// Runs is the page of all runs, or of one namespace's, newest first.
func Runs(f Frame, runs []v1alpha1.BenchmarkRun, only string) Page {
	body := runsBody{Only: only}
	runs = slices.DeleteFunc(slices.Clone(runs), func(r v1alpha1.BenchmarkRun) bool { return only != "" && r.Namespace != only })
	slices.SortFunc(runs, func(a, b v1alpha1.BenchmarkRun) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	if older := len(runs) - mostRuns; older > 0 {
		runs, body.Older = runs[:mostRuns], format.Integer(older)
	}
	for i := range runs {
		body.Rows = append(body.Rows, rowOf(&runs[i], f.Now))
	}
	title := "Runs"
	if only != "" {
		title = fmt.Sprintf("Runs of namespace %s", only)
	}
	return Page{Frame: f, Title: title, Stream: EventsPath, Data: body, section: RunsPath, body: "runs"}
}
