package screen

import (
	"fmt"
	"testing"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/progress"
)

func TestTrialNameHasBlockAndServers(t *testing.T) {
	for name, tc := range map[string]struct {
		event progress.Event
		want  string
	}{
		"no trial":             {progress.Event{Blocks: 10}, ""},
		"the first block":      {progress.Event{Blocks: 10, Trial: &record.PlannedTrial{Block: 1, Servers: []string{"plain"}}}, "block 1/10    plain"},
		"the last block":       {progress.Event{Blocks: 10, Trial: &record.PlannedTrial{Block: 10, Servers: []string{"plain"}}}, "block 10/10   plain"},
		"the first repeat":     {progress.Event{Blocks: 10, Repeats: 2, Trial: &record.PlannedTrial{Block: 11, Servers: []string{"plain"}}}, "repeat 1/2    plain"},
		"the second repeat":    {progress.Event{Blocks: 10, Repeats: 2, Trial: &record.PlannedTrial{Block: 12, Servers: []string{"plain"}}}, "repeat 2/2    plain"},
		"a duet":               {progress.Event{Blocks: 2, Trial: &record.PlannedTrial{Block: 1, Servers: []string{"plain", "costly"}}}, "block 1/2     plain and costly"},
		"a profile":            {progress.Event{Blocks: 7, Trial: &record.PlannedTrial{Type: record.ProfileType, Item: "cpu", Servers: []string{"plain"}}}, "profiles[cpu]  plain"},
		"more blocks than fit": {progress.Event{Blocks: 10000, Trial: &record.PlannedTrial{Block: 9999, Servers: []string{"plain"}}}, "block 9999/10000  plain"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := trialOf(tc.event); got != tc.want {
				t.Errorf("it is called %q, want %q", got, tc.want)
			}
		})
	}
}

func TestTrialLineLengthIsLimited(t *testing.T) {
	var values []progress.Result
	for i := range maxResults + 3 {
		values = append(values, progress.Result{Name: fmt.Sprintf("case-%d", i), Value: float64(i) + 0.6, Unit: "ns"})
	}
	for name, tc := range map[string]struct {
		results []progress.Result
		want    string
	}{
		"nothing":               {nil, ""},
		"one value, rounded":    {values[:1], "case-0 0.600 ns"},
		"one far below 1":       {[]progress.Result{{Name: "case", Value: 0.4, Unit: "ns"}}, "case 0.400 ns"},
		"one in thousands":      {[]progress.Result{{Name: "case", Value: 12345.6, Unit: "ns"}}, "case 12,346 ns"},
		"as many as there may":  {values[:maxResults], "case-0 0.600 ns, case-1 1.60 ns, case-2 2.60 ns, case-3 3.60 ns, case-4 4.60 ns, case-5 5.60 ns"},
		"one more than may":     {values[:maxResults+1], "case-0 0.600 ns, case-1 1.60 ns, case-2 2.60 ns, case-3 3.60 ns, case-4 4.60 ns, case-5 5.60 ns, and 1 more"},
		"three more than may":   {values, "case-0 0.600 ns, case-1 1.60 ns, case-2 2.60 ns, case-3 3.60 ns, case-4 4.60 ns, case-5 5.60 ns, and 3 more"},
		"a value and a failure": {[]progress.Result{values[1], {Name: "case-x", Value: 5, Unit: "ns", Failed: "it was disturbed"}}, "case-1 1.60 ns, case-x failed: it was disturbed"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := resultsLine(tc.results); got != tc.want {
				t.Errorf("it is %q, want %q", got, tc.want)
			}
		})
	}
}
