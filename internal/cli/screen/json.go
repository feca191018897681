package screen

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/run/progress"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
)

// JSON prints the events of a run for programs, one object per line.
type JSON struct{ out *json.Encoder }

// NewJSON makes a printer of objects.
func NewJSON(out io.Writer) JSON { return JSON{json.NewEncoder(out)} }

// jsonEvent is one line, without inapplicable fields.
type jsonEvent struct {
	Event       string       `json:"event"`
	Message     string       `json:"message,omitempty"`
	Trial       string       `json:"trial,omitempty"`
	Servers     []string     `json:"servers,omitempty"`
	Block       int32        `json:"block,omitempty"`
	Field       string       `json:"field,omitempty"`
	Blocks      int32        `json:"blocks"`
	Repeats     int32        `json:"repeats"`
	Disturbed   string       `json:"disturbed,omitempty"`
	Cell        string       `json:"cell,omitempty"`
	CellsDone   int          `json:"cellsDone"`
	Cells       int          `json:"cells"`
	LeftSeconds float64      `json:"leftSeconds"`
	Results     []jsonResult `json:"results,omitempty"`
}

type jsonResult struct {
	Name      string   `json:"name"`
	Value     *float64 `json:"value,omitempty"`
	Unit      string   `json:"unit,omitempty"`
	P99Micros *float64 `json:"p99Micros,omitempty"`
	Failed    string   `json:"failed,omitempty"`
	Doubt     string   `json:"doubt,omitempty"`
}

var eventNames = map[progress.EventKind]string{
	progress.EventProgress: "progress", progress.EventFinished: "cells", progress.EventNote: "note", progress.EventMeasured: "trial", progress.EventFailed: "failed",
}

// Tell prints an event.
func (j JSON) Tell(e progress.Event) {
	line := jsonEvent{
		Event: eventNames[e.Kind], Message: e.Message, Blocks: e.Blocks, Repeats: e.Repeats, Disturbed: e.Troubles,
		Cell: e.Cell, CellsDone: e.Done, Cells: e.All, LeftSeconds: e.Left.Seconds(),
	}
	if e.Trial != nil {
		line.Trial, line.Servers, line.Block, line.Field = e.Trial.Name, e.Trial.Servers, e.Trial.Block, kinds.Field(*e.Trial)
	}
	for _, r := range e.Results {
		own := jsonResult{Name: r.Name, Unit: r.Unit, P99Micros: r.P99Micros, Failed: r.Failed, Doubt: r.Doubt}
		if r.Failed == "" {
			own.Value = &r.Value
		}
		line.Results = append(line.Results, own)
	}
	_ = j.out.Encode(line) // The reader has ended; the run continues.
}

// End is how a run has ended: the last line of its events.
type End struct {
	Event       string `json:"event"`
	Reason      string `json:"reason,omitempty"`
	Message     string `json:"message,omitempty"`
	Verdict     string `json:"verdict,omitempty"`
	Conclusive  bool   `json:"conclusive"`
	Report      string `json:"report,omitempty"`
	Interrupted bool   `json:"interrupted,omitempty"`
	// Noise is the result of an A/A run. Empty for other runs.
	Noise string `json:"noise,omitempty"`
	// FloorStored: later runs use the noise as their noise floor.
	FloorStored bool `json:"floorStored,omitempty"`
}

// EndOf is the end of a run, without results of an A/A run.
func EndOf(e progress.Ending) End {
	end := End{Event: "end", Reason: e.Reason, Message: e.Message, Report: e.Report, Interrupted: e.Interrupted}
	if e.Verdict != nil {
		end.Verdict, end.Conclusive = e.Verdict.Text, e.Verdict.Conclusive
	}
	return end
}

// End prints how the run has ended.
func (j JSON) End(e End) error { return j.out.Encode(e) }

// Run is a run in a list of runs.
type Run struct {
	Namespace string    `json:"namespace,omitempty"`
	Name      string    `json:"name"`
	State     string    `json:"state,omitempty"`
	Progress  string    `json:"progress,omitempty"`
	Left      string    `json:"left,omitempty"`
	Created   time.Time `json:"created"`
	Verdict   string    `json:"verdict,omitempty"`
	Folder    string    `json:"folder,omitempty"`
}

// NewestFirst orders runs as lists show them.
func NewestFirst(a, b Run) int {
	return cmp.Or(b.Created.Compare(a.Created), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// Runs prints a table of runs: all on a cluster, or all on this machine.
func Runs(out io.Writer, runs []Run, now time.Time) error {
	if len(runs) == 0 {
		_, err := fmt.Fprintln(out, "no runs found")
		return err
	}
	w := tabwriter.NewWriter(util.PrintableWriter(out), 0, 8, 2, ' ', 0)
	where := "NAMESPACE"
	if runs[0].Folder != "" {
		where = "FOLDER"
	}
	fmt.Fprintf(w, "%s\tNAME\tSTATE\tPROGRESS\tLEFT\tAGE\tVERDICT\n", where)
	for _, r := range runs {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", cmp.Or(r.Namespace, r.Folder), r.Name, r.State, cmp.Or(r.Progress, "-"), cmp.Or(r.Left, "-"),
			duration.HumanDuration(now.Sub(r.Created)), cmp.Or(r.Verdict, "-"))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("printing runs: %w", err)
	}
	return nil
}

// Suite is a suite in a list of suites.
type Suite struct {
	Namespace string                `json:"namespace"`
	Name      string                `json:"name"`
	Ready     string                `json:"ready"`
	Reason    string                `json:"reason"`
	Message   string                `json:"message,omitempty"`
	Measuring string                `json:"measuring,omitempty"`
	Last      v1alpha1.SuiteRound   `json:"lastRound,omitzero"`
	Good      v1alpha1.SuiteRound   `json:"lastGood,omitzero"`
	History   []v1alpha1.SuiteRound `json:"history,omitempty"`
}

// SuiteOf is a suite in a list. Until the operator has seen its spec, readiness is unknown.
func SuiteOf(s *v1alpha1.BenchmarkSuite) Suite {
	one := Suite{
		Namespace: s.Namespace, Name: s.Name, Ready: string(metav1.ConditionUnknown), Reason: v1alpha1.ReasonPending,
		Measuring: s.Status.Current.Progress, Last: s.Status.LastRound, Good: s.Status.LastGood, History: s.Status.History,
	}
	if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady); c != nil && c.ObservedGeneration == s.Generation {
		one.Ready, one.Reason, one.Message = string(c.Status), c.Reason, c.Message
	}
	return one
}

// Suites prints a table of suites.
func Suites(out io.Writer, suites []Suite) error {
	if len(suites) == 0 {
		_, err := fmt.Fprintln(out, "no suites found")
		return err
	}
	w := tabwriter.NewWriter(util.PrintableWriter(out), 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAMESPACE\tNAME\tREADY\tREASON\tMEASURING\tLAST\tMESSAGE")
	for _, s := range suites {
		last := "-"
		if s.Last.Round > 0 {
			last = fmt.Sprintf("%d %s", s.Last.Round, s.Last.Outcome)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.Namespace, s.Name, s.Ready, s.Reason, cmp.Or(s.Measuring, "-"), last, cmp.Or(s.Message, "-"))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("printing suites: %w", err)
	}
	return nil
}
