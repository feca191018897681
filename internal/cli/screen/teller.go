package screen

import (
	"fmt"
	"io"

	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/run/progress"
)

// Teller prints a run's progress and ending: on a screen, or as JSON objects.
type Teller struct {
	out    io.Writer
	json   bool
	screen *Screen
}

// NewTeller makes a teller for people, or for programs.
func NewTeller(out io.Writer, json bool) Teller {
	return Teller{out: out, json: json, screen: New(out)}
}

// Live reports whether there is a live view.
func (t Teller) Live() bool { return t.screen.Live() }

// Tell tells of an event.
func (t Teller) Tell(e progress.Event) {
	if t.json {
		NewJSON(t.out).Tell(e)
		return
	}
	t.screen.Tell(e)
}

// Note tells a sentence that is about no trial.
func (t Teller) Note(text string) { t.Tell(progress.Event{Kind: progress.EventNote, Message: text}) }

// Clear removes the live view.
func (t Teller) Clear() { t.screen.End() }

// End tells how a run has ended.
func (t Teller) End(e progress.Ending) error {
	t.Clear()
	if t.json {
		return NewJSON(t.out).End(EndOf(e))
	}
	return PrintEnding(t.out, e)
}

// Calibrated tells how an A/A run has ended. The noise is empty without a report.
func (t Teller) Calibrated(e progress.Ending, noise string, stored bool) error {
	t.Clear()
	if t.json {
		end := EndOf(e)
		end.Noise, end.FloorStored = noise, stored
		return NewJSON(t.out).End(end)
	}
	if noise == "" {
		return nil
	}
	if e.Report != "" {
		noise += "\nreport: " + e.Report
	}
	_, err := fmt.Fprintln(t.out, util.Printable(noise))
	return err
}

// Left prints, in JSON only, why the run is no longer followed. The command's error tells people.
func (t Teller) Left(reason error) error {
	e := progress.Ending{Interrupted: true}
	e.Message = reason.Error()
	return t.Unreported(e)
}

// Unreported prints, in JSON only, an end that the command's error tells people.
func (t Teller) Unreported(e progress.Ending) error {
	t.Clear()
	if !t.json {
		return nil
	}
	return NewJSON(t.out).End(EndOf(e))
}

// PrintEnding prints the verdict and the report's path.
func PrintEnding(out io.Writer, e progress.Ending) error {
	if e.Verdict != nil && e.Verdict.Text != "" {
		if _, err := fmt.Fprintln(out, util.Printable(e.Verdict.Text)); err != nil {
			return err
		}
	}
	if e.Report == "" {
		return nil
	}
	_, err := fmt.Fprintln(out, "report: "+util.Printable(e.Report))
	return err
}
