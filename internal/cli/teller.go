package cli

import (
	"context"
	"errors"
	"io"

	"loadstone.dev/loadstone/internal/progress"
	"loadstone.dev/loadstone/internal/screen"
)

// teller prints how a run goes on and how it ends, for people or for programs.
type teller struct {
	out    io.Writer
	output outputFormat
	shown  *screen.Screen
}

func newTeller(out io.Writer, output outputFormat) teller {
	return teller{out: out, output: output, shown: screen.New(out)}
}

// tell prints an event.
func (t teller) tell(e progress.Event) {
	if t.output == jsonOutput {
		screen.NewJSON(t.out).Tell(e)
		return
	}
	t.shown.Tell(e)
}

// note prints a sentence that is about no trial.
func (t teller) note(text string) { t.tell(progress.Event{Kind: progress.EventNote, Message: text}) }

// end prints how a run has ended, and returns the error whose status says it.
func (t teller) end(e progress.Ending) error {
	t.shown.End()
	if t.output == jsonOutput {
		return jsonEnding(t.out, e)
	}
	return printEnding(t.out, e)
}

// endOpening is end, and opens the report in a browser if asked to. Somebody who has ended the run waits for no page.
func (t teller) endOpening(ctx context.Context, e progress.Ending, open bool) error {
	end := t.end(e)
	if !open || e.Report == "" || e.Interrupted {
		return end
	}
	return errors.Join(end, openPage(ctx, e.Report))
}

// left prints that this program follows the run no more, for the reason in an error, and returns it. People read it as the error.
func (t teller) left(reason error) error {
	t.shown.End()
	if t.output != jsonOutput {
		return reason
	}
	e := progress.Ending{Interrupted: true}
	e.Message = reason.Error()
	if err := screen.NewJSON(t.out).End(e); err != nil {
		return err
	}
	return reason
}
