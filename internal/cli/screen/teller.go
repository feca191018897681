package screen

import (
	"fmt"
	"io"

	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/run/progress"
)

// Teller tells how a run goes on and how it ends: people on a screen, or programs in objects.
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
		return NewJSON(t.out).End(e)
	}
	return PrintEnding(t.out, e)
}

// Left tells programs that the run is followed no more, and why. People read it as the error of the command.
func (t Teller) Left(reason error) error {
	e := progress.Ending{Interrupted: true}
	e.Message = reason.Error()
	return t.Unreported(e)
}

// Unreported tells programs of an end that people read as the error of the command.
func (t Teller) Unreported(e progress.Ending) error {
	t.Clear()
	if !t.json {
		return nil
	}
	return NewJSON(t.out).End(e)
}

// PrintEnding prints the verdict of a run that has ended, and the path of its report, for people.
func PrintEnding(out io.Writer, e progress.Ending) error {
	if e.Verdict != nil && e.Verdict.Text != "" {
		if _, err := fmt.Fprintln(out, util.Printable(e.Verdict.Text)); err != nil {
			return err
		}
	}
	if e.Report == "" {
		return nil
	}
	_, err := fmt.Fprintln(out, "report: "+e.Report)
	return err
}
