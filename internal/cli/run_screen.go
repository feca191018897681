package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"loadstone.dev/loadstone/internal/local"
	"loadstone.dev/loadstone/internal/record"
)

// maxResults bounds how many values of a trial are printed in its line: the report has all.
const maxResults = 6

// screen prints what happens in a run: a line for everything that stays true and, on a terminal, one that is replaced.
type screen struct {
	out  io.Writer
	live bool
	// width is the length of the line that is to be replaced; 0 if there is none.
	width int
}

func newScreen(out io.Writer) *screen { return &screen{out: out, live: isTerminal(out)} }

// tell prints an event.
func (p *screen) tell(e local.Event) {
	switch e.Kind {
	case local.EventProgress:
		if p.live {
			p.replace(progressLine(e))
		}
	case local.EventMeasured:
		p.line(trialOf(e) + "  " + resultsLine(e.Results) + "  " + leftOf(e))
	case local.EventFailed:
		p.line(trialOf(e) + "  failed: " + e.Message)
	case local.EventNote:
		p.line(e.Message)
	}
}

// end leaves the cursor at the beginning of a line.
func (p *screen) end() { p.replace("") }

// line prints what stays.
func (p *screen) line(text string) {
	p.replace("")
	fmt.Fprintln(p.out, text)
}

// replace prints text in the place of what it printed last.
func (p *screen) replace(text string) {
	if p.width == 0 && text == "" {
		return
	}
	fmt.Fprintf(p.out, "\r%s\r%s", strings.Repeat(" ", p.width), text)
	p.width = len(text)
}

func progressLine(e local.Event) string {
	text := trialOf(e)
	if e.Cell != "" {
		text += "  " + e.Cell
	}
	return text + fmt.Sprintf("  %d of %d cells  ", e.Done, e.All) + leftOf(e)
}

// trialOf names an event's trial by its block and its servers.
func trialOf(e local.Event) string {
	if e.Trial == nil {
		return ""
	}
	return fmt.Sprintf("%-12s  %s", blockOf(e, e.Trial), strings.Join(e.Trial.Servers, " and "))
}

func blockOf(e local.Event, t *record.PlannedTrial) string {
	if t.Block > e.Blocks {
		return fmt.Sprintf("repeat %d/%d", t.Block-e.Blocks, e.Repeats)
	}
	return fmt.Sprintf("block %d/%d", t.Block, e.Blocks)
}

func leftOf(e local.Event) string { return e.Left.Round(time.Second).String() + " left" }

func resultsLine(results []local.Result) string {
	var texts []string
	for i, r := range results {
		switch {
		case i == maxResults:
			texts = append(texts, fmt.Sprintf("and %d more", len(results)-i))
		case i > maxResults:
		case r.Failed != "":
			texts = append(texts, r.Name+" failed: "+r.Failed)
		default:
			texts = append(texts, fmt.Sprintf("%s %.0f %s", r.Name, r.Value, r.Unit))
		}
	}
	return strings.Join(texts, ", ")
}
