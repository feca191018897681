package rounds

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/report/junit"
	"loadstone.dev/loadstone/internal/run/conduct"
)

// tests are the round's own, followed by each run's. Names are the same in each round, so a pipeline can follow a
// test over time.
func (r Round) tests() ([]byte, error) {
	all := []junit.Suite{r.own()}
	for _, run := range r.Runs {
		all = append(all, r.of(run))
	}
	out, err := junit.Print(all...)
	if err != nil {
		return nil, fmt.Errorf("round %d of suite %s: %w", r.Line.Round, r.event.Subject, err)
	}
	return out, nil
}

func (r Round) class(run ...string) string {
	return strings.Join(append([]string{"loadstone", r.Suite.Name}, run...), ".")
}

func (r Round) own() junit.Suite {
	s := junit.Suite{Name: r.event.Subject, Cases: []junit.Case{r.outcome()}, Said: End(r.Line)}
	if c := r.whole(); c != nil {
		s.Cases = append(s.Cases, *c)
	}
	if c := r.changePoints(); c != nil {
		s.Cases = append(s.Cases, *c)
	}
	s.Last(instant(r.Line.StartTime), instant(r.Line.CompletionTime))
	s.Note("round", strconv.Itoa(int(r.Line.Round)))
	s.Note("trigger", string(r.Line.Trigger))
	s.Note("pullRequest", r.Line.PullRequest)
	s.Note("inputs", r.Line.Inputs)
	given := map[string]bool{}
	for _, list := range [][]v1alpha1.ParameterValue{r.Line.Parameters, r.Line.Noted} {
		for _, p := range list {
			if !given[p.Name] {
				given[p.Name] = true
				s.Note("parameter."+p.Name, p.Value)
			}
		}
	}
	s.Close(r.class())
	return s
}

// outcome is undecided if its runs are: an undecided objective is not met, and a comparison without verdict is
// neither pass nor fault.
func (r Round) outcome() junit.Case {
	c, text, why := junit.Case{Name: "outcome"}, End(r.Line), cmp.Or(r.Line.Reason, string(r.Line.Outcome))
	switch r.Line.Outcome {
	case v1alpha1.RoundPassed:
		c.Said = text
	case v1alpha1.RoundMissed:
		c.Failure = junit.Because(why, text)
	case v1alpha1.RoundInconclusive:
		if r.Line.Reason == v1alpha1.ReasonObjectivesUndecided {
			c.Failure = junit.Because(why, text)
		} else {
			c.Skipped = junit.Because("", text)
		}
	default:
		c.Error = junit.Because(why, text)
	}
	return c
}

// whole tests that all runs exist; nil if they do.
func (r Round) whole() *junit.Case {
	text := "all its runs were deleted from the cluster, and their results are missing"
	switch lost := r.Of - len(r.Runs); {
	case len(r.Runs) > 0 && lost <= 0:
		return nil
	case len(r.Runs) > 0:
		text = fmt.Sprintf("the cluster has %d of its %d runs; the results of the others are missing", len(r.Runs), r.Of)
	}
	return &junit.Case{Name: "runs", Error: junit.Because("Missing", text)}
}

// changePoints tests that no value was found to be worse within the newest rounds; nil if the gate does not ask.
func (r Round) changePoints() *junit.Case {
	gate := r.Suite.Spec.Gate
	within := gate.ChangePoints.WithinRounds
	if within == 0 {
		return nil
	}
	c, found := &junit.Case{Name: "change points"}, r.Line.ChangePoints
	var worse []string
	for _, w := range found.Worse {
		if w.Rounds <= within {
			worse = append(worse, w.Message)
		}
	}
	unknown := "change points are not known: "
	switch {
	case len(worse) > 0:
		c.Failure = junit.Because(v1alpha1.ReasonRegressed, fmt.Sprintf("found to be worse within the newest %d rounds: %s", within, strings.Join(worse, "; ")))
	case found.CompletionTime == nil:
		c.Skipped = junit.Because("", unknown+r.unread())
	case found.Reason != "" && gate.OnInconclusive == v1alpha1.InconclusivePasses:
		c.Skipped = junit.Because("", unknown+found.Message)
	case found.Reason != "":
		c.Failure = junit.Because(found.Reason, unknown+found.Message+"; unknown change points fail the gate")
	default:
		c.Said = fmt.Sprintf("no value was found to be worse within the newest %d rounds", within)
		if found.Message != "" {
			c.Said += "; " + found.Message
		}
	}
	return c
}

// unread is why change points were not searched, or not yet.
func (r Round) unread() string {
	gate := r.event.Data.Gate
	lenient := r.Suite.Spec.Gate.OnInconclusive == v1alpha1.InconclusivePasses
	switch {
	case r.Line.ChangePoints.Message != "":
		return r.Line.ChangePoints.Message
	case r.Line.Outcome != v1alpha1.RoundPassed && (r.Line.Outcome != v1alpha1.RoundInconclusive || !lenient):
		return "not checked, because the round fails the gate anyway"
	case gate != nil && gate.Ready == metav1.ConditionUnknown:
		return gate.Message
	}
	return "not checked in this round"
}

// of returns the tests of a run's report, with an error if it failed or has none.
func (r Round) of(run Run) junit.Suite {
	s, lacks := junit.Suite{}, run.Lacks
	if run.Tests != nil {
		read, err := junit.Read(run.Tests)
		switch {
		case err != nil:
			lacks = fmt.Sprintf("its tests cannot be read: %v", err)
		case len(read) != 1:
			lacks = fmt.Sprintf("its list of tests has %d suites instead of one", len(read))
		default:
			s = read[0]
		}
	} else {
		lacks = cmp.Or(lacks, "it was not read")
	}
	status := run.Object.Status
	if s.Seconds == "" {
		s.Last(instant(status.StartTime), instant(status.CompletionTime))
	}
	s.Name = r.event.Subject + "/" + run.Name
	s.Said = cmp.Or(status.Verdict, "no verdict")
	if status.Report.URI != "" {
		s.Said += fmt.Sprintf("\nloadstone report %s --namespace %s gets the report with all its files.", run.Object.Name, run.Object.Namespace)
	}
	if c := ending(run.Object, s.Cases == nil, lacks); c != nil {
		s.Cases = append(s.Cases, *c)
	}
	s.Properties = nil
	s.Note("benchmarkRun", run.Object.Name)
	for _, i := range run.Object.Spec.Implementations {
		s.Note("image."+i.Name, i.Image)
	}
	s.Note("report", status.Report.URI)
	s.Note("reportSHA256", status.Report.SHA256)
	s.Close(r.class(run.Name))
	return s
}

// Objectives have their own tests.
func ending(run *v1alpha1.BenchmarkRun, empty bool, lacks string) *junit.Case {
	e := facts.Ending(run)
	judged := e.State == conduct.Succeeded || e.Reason == v1alpha1.ReasonObjectivesMissed || e.Reason == v1alpha1.ReasonObjectivesUndecided
	missing := ""
	if empty {
		missing = "the tests of the run are missing: " + cmp.Or(lacks, "its report has none")
	}
	switch {
	case run.Status.CompletionTime == nil:
		return &junit.Case{Name: "run", Error: junit.Because("Unfinished", "the run has not ended")}
	case !judged && empty:
		return &junit.Case{Name: "run", Error: junit.Because(e.Reason, e.Message+"; "+missing)}
	case !judged:
		return &junit.Case{Name: "run", Error: junit.Because(e.Reason, e.Message)}
	case empty:
		return &junit.Case{Name: "run", Error: junit.Because("Missing", missing)}
	}
	return nil
}

func instant(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}
