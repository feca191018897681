package conduct_test

import (
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/conduct"
)

func ended(trials int) func(*conduct.Run) {
	return func(r *conduct.Run) {
		measured(0)(r)
		for i := trials; i < len(r.Trials); i++ {
			open(i)(r)
		}
	}
}

func TestTheInterimAnalysisIsMadeAfterSomeBlocks(t *testing.T) {
	for name, tc := range map[string]struct {
		deltas []func(*conduct.Run)
		// want is the block of the analysis, or 0.
		want int32
	}{
		"not before ten blocks":                         {[]func(*conduct.Run){ended(9), interim(0, 0)}, 0},
		"after ten":                                     {[]func(*conduct.Run){ended(10), interim(0, 0)}, 10},
		"once after ten":                                {[]func(*conduct.Run){ended(11), interim(10, 0)}, 0},
		"after twenty":                                  {[]func(*conduct.Run){ended(20), interim(10, 0)}, 20},
		"first after ten if both are due":               {[]func(*conduct.Run){ended(20), interim(0, 0)}, 10},
		"not at the end, which is analysed anyway":      {[]func(*conduct.Run){ended(25), interim(20, 0)}, 0},
		"not after it has ended early":                  {[]func(*conduct.Run){ended(25), interim(10, 10)}, 0},
		"not in a run that measures all of its blocks":  {[]func(*conduct.Run){ended(10)}, 0},
		"not while an earlier block is open":            {[]func(*conduct.Run){ended(12), interim(0, 0), open(3)}, 0},
		"also if a trial before it has failed for good": {[]func(*conduct.Run){ended(10), interim(0, 0), failed(3, v1alpha1.ReasonWrongResponse, "404")}, 10},
	} {
		t.Run(name, func(t *testing.T) {
			step := runOf(t, 25, alone, tc.deltas...).Next()
			if step.Block != tc.want || (step.Act == conduct.ActAnalyse) != (tc.want > 0) {
				t.Errorf("next is %d after block %d, want block %d", step.Act, step.Block, tc.want)
			}
		})
	}
}

func TestABlockWaitsForTheInterimAnalysisBeforeIt(t *testing.T) {
	const waits = "waiting for the run's interim analysis (spec.stop)"
	for name, tc := range map[string]struct {
		maxWidth     string
		after, block int32
		want         string
	}{
		"block ten waits for nothing":            {"0.05", 0, 10, ""},
		"block eleven waits for an analysis":     {"0.05", 0, 11, waits},
		"and goes on after it":                   {"0.05", 10, 11, ""},
		"block twenty-one waits for both":        {"0.05", 10, 21, waits},
		"a repeat block has seen all analyses":   {"0.05", 20, 26, ""},
		"nobody waits if there is none":          {"", 0, 11, ""},
		"the last of thirty is no interim block": {"0.05", 20, 25, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := conduct.View{Blocks: 25, Interim: conduct.Interim{MaxWidth: tc.maxWidth, After: tc.after}}
			trial := conduct.Trial{}
			trial.Block = tc.block
			if got := c.Awaits(trial); got != tc.want {
				t.Errorf("it awaits %q, want %q", got, tc.want)
			}
		})
	}
}

func TestAnInterimAnalysisIsRemembered(t *testing.T) {
	before := conduct.Interim{MaxWidth: "0.05", After: 10}
	if got, want := before.Made(20, false), (conduct.Interim{MaxWidth: "0.05", After: 20}); got != want {
		t.Errorf("after wide intervals it is %+v, want %+v", got, want)
	}
	if got, want := before.Made(20, true), (conduct.Interim{MaxWidth: "0.05", After: 20, Stopped: 20}); got != want {
		t.Errorf("after narrow intervals it is %+v, want %+v", got, want)
	}
}
