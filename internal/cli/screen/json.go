package screen

import (
	"encoding/json"
	"io"

	"loadstone.dev/loadstone/internal/run/progress"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
)

// JSON prints what happens in a run, for programs: an object a line.
type JSON struct{ out *json.Encoder }

// NewJSON makes a printer of objects.
func NewJSON(out io.Writer) JSON { return JSON{json.NewEncoder(out)} }

// jsonEvent is one line. What does not belong to an event is left out.
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
}

// eventNames are the names of events.
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
		own := jsonResult{Name: r.Name, Unit: r.Unit, P99Micros: r.P99Micros, Failed: r.Failed}
		if r.Failed == "" {
			own.Value = &r.Value
		}
		line.Results = append(line.Results, own)
	}
	_ = j.out.Encode(line) // Nobody reads any more: the run goes on.
}

// jsonEnding is the last line.
type jsonEnding struct {
	Event       string `json:"event"`
	Reason      string `json:"reason,omitempty"`
	Message     string `json:"message,omitempty"`
	Verdict     string `json:"verdict,omitempty"`
	Conclusive  bool   `json:"conclusive"`
	Report      string `json:"report,omitempty"`
	Interrupted bool   `json:"interrupted,omitempty"`
}

// End prints how the run has ended.
func (j JSON) End(e progress.Ending) error {
	line := jsonEnding{Event: "end", Reason: e.Reason, Message: e.Message, Report: e.Report, Interrupted: e.Interrupted}
	if e.Verdict != nil {
		line.Verdict, line.Conclusive = e.Verdict.Text, e.Verdict.Conclusive
	}
	return j.out.Encode(line)
}
