package screen

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/progress"
)

func TestPrintEnding(t *testing.T) {
	done := conduct.Outcome{State: conduct.Succeeded}
	for name, tc := range map[string]struct {
		ending progress.Ending
		want   string
	}{
		"with verdict and report": {
			progress.Ending{Outcome: done, Counts: true, Verdict: &conduct.Verdict{Text: "costly is slower", Conclusive: true}, Report: "results/report.html"},
			"costly is slower\nreport: results/report.html\n",
		},
		"with controls in the path": {
			progress.Ending{Outcome: done, Counts: true, Verdict: &conduct.Verdict{Text: "slower", Conclusive: true}, Report: "\x1b[2J/report.html"},
			"slower\n" + `report: \x1b[2J/report.html` + "\n",
		},
		"without either": {progress.Ending{Outcome: conduct.Outcome{State: conduct.Failed, Reason: "TimedOut"}}, ""},
		"interrupted, with what is complete": {
			progress.Ending{Interrupted: true, Verdict: &conduct.Verdict{Text: "too few blocks"}, Report: "report.html"}, "too few blocks\nreport: report.html\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := NewTeller(&out, false).End(tc.ending); err != nil || out.String() != tc.want {
				t.Errorf("it prints %q, %v, want %q", out.String(), err, tc.want)
			}
		})
	}
}

func TestInterruptedFollowerPrintsJSONEndEvent(t *testing.T) {
	for name, tc := range map[string]struct {
		json bool
		want string
	}{
		"people read the error": {},
		"programs an object":    {true, `{"event":"end","message":"it goes on","conclusive":false,"interrupted":true}` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := NewTeller(&out, tc.json).Left(errors.New("it goes on")); err != nil || out.String() != tc.want {
				t.Errorf("it prints %q, %v, want %q", out.String(), err, tc.want)
			}
		})
	}
}

func TestPrintEndingReturnsWriteError(t *testing.T) {
	read, write := io.Pipe()
	if err := read.Close(); err != nil {
		t.Fatal(err)
	}
	ending := progress.Ending{Verdict: &conduct.Verdict{Text: "costly is slower"}, Report: "report.html"}
	for _, json := range []bool{true, false} {
		if err := NewTeller(write, json).End(ending); err == nil {
			t.Errorf("with JSON %v it is none", json)
		}
	}
}
