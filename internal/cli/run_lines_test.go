package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/conduct"
	"loadstone.dev/loadstone/internal/local"
	"loadstone.dev/loadstone/internal/record"
)

// shown is what a terminal shows of text: a carriage return goes back to the beginning of the line, and what comes then is written over it.
func shown(text string) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		var seen []byte
		at := 0
		for _, b := range []byte(line) {
			switch {
			case b == '\r':
				at = 0
				continue
			case at < len(seen):
				seen[at] = b
			default:
				seen = append(seen, b)
			}
			at++
		}
		lines = append(lines, strings.TrimRight(string(seen), " "))
	}
	return lines
}

func TestATerminalKeepsNothingOfALineThatWasReplaced(t *testing.T) {
	var out bytes.Buffer
	s := screen{out: &out, live: true}
	first := &record.PlannedTrial{Block: 1, Servers: []string{"plain"}}
	s.tell(local.Event{Kind: local.EventProgress, Trial: first, Blocks: 12, Cell: "a-cell-with-a-long-name-10000", Done: 10, All: 48, Left: time.Hour})
	s.tell(local.Event{Kind: local.EventProgress, Trial: first, Blocks: 12, Done: 11, All: 48, Left: time.Second})
	s.tell(local.Event{Kind: local.EventNote, Message: "a note"})
	s.tell(local.Event{Kind: local.EventNote, Message: "another"})
	s.tell(local.Event{Kind: local.EventProgress, Trial: first, Blocks: 12, Done: 12, All: 48})
	s.end()
	s.end()
	fmt.Fprint(&out, "done")
	want := []string{"a note", "another", "done"}
	if got := shown(out.String()); !slices.Equal(got, want) {
		t.Errorf("it shows %q, want %q", got, want)
	}
	if got := shown(strings.Split(out.String(), "a note")[0]); got[0] != "" {
		t.Errorf("before the note stands %q", got)
	}
}

func TestATrialIsNamedByItsBlockAndServers(t *testing.T) {
	for name, tc := range map[string]struct {
		event local.Event
		want  string
	}{
		"no trial":             {local.Event{Blocks: 10}, ""},
		"the first block":      {local.Event{Blocks: 10, Trial: &record.PlannedTrial{Block: 1, Servers: []string{"plain"}}}, "block 1/10    plain"},
		"the last block":       {local.Event{Blocks: 10, Trial: &record.PlannedTrial{Block: 10, Servers: []string{"plain"}}}, "block 10/10   plain"},
		"the first repeat":     {local.Event{Blocks: 10, Repeats: 2, Trial: &record.PlannedTrial{Block: 11, Servers: []string{"plain"}}}, "repeat 1/2    plain"},
		"the second repeat":    {local.Event{Blocks: 10, Repeats: 2, Trial: &record.PlannedTrial{Block: 12, Servers: []string{"plain"}}}, "repeat 2/2    plain"},
		"a duet":               {local.Event{Blocks: 2, Trial: &record.PlannedTrial{Block: 1, Servers: []string{"plain", "costly"}}}, "block 1/2     plain and costly"},
		"more blocks than fit": {local.Event{Blocks: 10000, Trial: &record.PlannedTrial{Block: 9999, Servers: []string{"plain"}}}, "block 9999/10000  plain"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := trialOf(tc.event); got != tc.want {
				t.Errorf("it is called %q, want %q", got, tc.want)
			}
		})
	}
}

func TestTheLineOfATrialIsBounded(t *testing.T) {
	var values []local.Result
	for i := range maxResults + 3 {
		values = append(values, local.Result{Name: fmt.Sprintf("case-%d", i), Value: float64(i) + 0.6, Unit: "ns"})
	}
	for name, tc := range map[string]struct {
		results []local.Result
		want    string
	}{
		"nothing":               {nil, ""},
		"one value, rounded":    {values[:1], "case-0 1 ns"},
		"as many as there may":  {values[:maxResults], "case-0 1 ns, case-1 2 ns, case-2 3 ns, case-3 4 ns, case-4 5 ns, case-5 6 ns"},
		"one more than may":     {values[:maxResults+1], "case-0 1 ns, case-1 2 ns, case-2 3 ns, case-3 4 ns, case-4 5 ns, case-5 6 ns, and 1 more"},
		"three more than may":   {values, "case-0 1 ns, case-1 2 ns, case-2 3 ns, case-3 4 ns, case-4 5 ns, case-5 6 ns, and 3 more"},
		"a value and a failure": {[]local.Result{values[1], {Name: "case-x", Value: 5, Unit: "ns", Failed: "it was disturbed"}}, "case-1 2 ns, case-x failed: it was disturbed"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := resultsLine(tc.results); got != tc.want {
				t.Errorf("it is %q, want %q", got, tc.want)
			}
		})
	}
}

func TestAnEndingIsPrinted(t *testing.T) {
	done := conduct.Outcome{State: conduct.Succeeded}
	for name, tc := range map[string]struct {
		ending local.Ending
		want   string
	}{
		"with verdict and report": {
			local.Ending{Outcome: done, Counts: true, Verdict: &conduct.Verdict{Text: "costly is slower", Conclusive: true}, Report: "results/report.html"},
			"costly is slower\nreport: results/report.html\n",
		},
		"without either": {local.Ending{Outcome: conduct.Outcome{State: conduct.Failed, Reason: "TimedOut"}}, ""},
		"interrupted, with what is complete": {
			local.Ending{Interrupted: true, Verdict: &conduct.Verdict{Text: "too few blocks"}, Report: "report.html"}, "too few blocks\nreport: report.html\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			_ = printEnding(&out, tc.ending) // Another test looks at the status.
			if out.String() != tc.want {
				t.Errorf("it prints %q, want %q", out.String(), tc.want)
			}
		})
	}
}
