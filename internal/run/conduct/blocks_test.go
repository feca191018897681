package conduct_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/conduct"
)

// The run has two blocks of one implementation, planned at 14 s each; its time is over at nine past.
func TestARepeatBlockIsBegunOnlyIfItIsNeededAndThereIsTimeForIt(t *testing.T) {
	for name, tc := range map[string]struct {
		deltas []func(*conduct.Run)
		want   int
	}{
		"nothing was disturbed":                          {[]func(*conduct.Run){measured(0)}, 2},
		"a block was disturbed":                          {[]func(*conduct.Run){measured(0), disturbed(1)}, 3},
		"a block was disturbed, and others still run":    {[]func(*conduct.Run){measured(0), disturbed(1), open(1)}, 2},
		"a block was disturbed, and is repeated":         {[]func(*conduct.Run){measured(1), disturbed(1)}, 3},
		"the repeat block was disturbed, too":            {[]func(*conduct.Run){measured(1), disturbed(1, 3)}, 4},
		"as many were repeated as may be":                {[]func(*conduct.Run){measured(2), disturbed(1, 3, 4)}, 4},
		"a trial was lost":                               {[]func(*conduct.Run){measured(0), failed(1, v1alpha1.ReasonAgentLost, "gone")}, 3},
		"a trial was lost in a block that was disturbed": {[]func(*conduct.Run){measured(1), disturbed(2), failed(1, v1alpha1.ReasonAgentLost, "gone")}, 3},
		"a trial was lost, and the run has ended early":  {[]func(*conduct.Run){measured(0), failed(0, v1alpha1.ReasonAgentLost, "gone"), interim(1, 1)}, 2},
		"an implementation failed":                       {[]func(*conduct.Run){measured(0), failed(1, v1alpha1.ReasonServerExited, "gone")}, 2},
		"there is just time for another block":           {[]func(*conduct.Run){measured(0), disturbed(1), left(20 * time.Second)}, 3},
		"there is no time for another block":             {[]func(*conduct.Run){measured(0), disturbed(1), left(10 * time.Second)}, 2},
		"no trial was begun":                             {nil, 2},
		"its turn has not come":                          {[]func(*conduct.Run){measured(0), disturbed(1), func(r *conduct.Run) { r.Started = time.Time{} }}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			if got := len(runOf(t, 2, alone, tc.deltas...).Needed()); got != tc.want {
				t.Errorf("%d trials are needed, want %d", got, tc.want)
			}
		})
	}
}

func TestARepeatBlockHoldsEveryImplementation(t *testing.T) {
	r := runOf(t, 2, []string{"go", "epoll"}, measured(0), scanned(2), failed(0, v1alpha1.ReasonPodLost, "gone"))
	step := r.Next()
	if step.Act != conduct.ActBegin || len(step.Trials) != 2 {
		t.Fatalf("it goes on with %+v", step)
	}
	got := names(step.Trials)
	slices.Sort(got)
	if got[0][len("quick-004"):] == got[1][len("quick-004"):] || step.Trials[0].Block != 3 || step.Trials[1].Block != 3 {
		t.Errorf("the repeat block is %v, blocks %d and %d", got, step.Trials[0].Block, step.Trials[1].Block)
	}
}

func TestWhatIsDisturbedFollowsFromTheScanAndFromLostTrials(t *testing.T) {
	for name, tc := range map[string]struct {
		deltas []func(*conduct.Run)
		want   []int32
	}{
		"nothing":                               {[]func(*conduct.Run){measured(0)}, nil},
		"what the scan has found":               {[]func(*conduct.Run){measured(0), disturbed(3, 1)}, []int32{1, 3}},
		"what was lost":                         {[]func(*conduct.Run){measured(0), failed(1, v1alpha1.ReasonPodLost, "")}, []int32{2}},
		"an agent that could not work":          {[]func(*conduct.Run){measured(0), failed(1, v1alpha1.ReasonAgentFailed, "")}, []int32{2}},
		"what could not be stored":              {[]func(*conduct.Run){measured(0), failed(1, v1alpha1.ReasonUploadFailed, "")}, []int32{2}},
		"what could not be read":                {[]func(*conduct.Run){measured(0), failed(1, v1alpha1.ReasonStoreUnavailable, "")}, []int32{2}},
		"what is both, once":                    {[]func(*conduct.Run){measured(0), disturbed(2), failed(1, v1alpha1.ReasonPodLost, "")}, []int32{2}},
		"no node in time is not":                {[]func(*conduct.Run){measured(0), failed(1, v1alpha1.ReasonUnschedulable, "")}, nil},
		"a wrong answer is not":                 {[]func(*conduct.Run){measured(0), failed(1, v1alpha1.ReasonWrongResponse, "")}, nil},
		"a trial that is tried again is not":    {[]func(*conduct.Run){measured(0), failed(1, v1alpha1.ReasonPodLost, ""), open(1)}, nil},
		"a trial that was not needed is not":    {[]func(*conduct.Run){measured(0), failed(1, v1alpha1.ReasonStoppedEarly, "")}, nil},
		"what ended with its deleted run isn't": {[]func(*conduct.Run){measured(0), failed(1, v1alpha1.ReasonDeleted, "")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, runOf(t, 3, alone, tc.deltas...).Disturbed()); diff != "" {
				t.Errorf("disturbed blocks (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheScanForDisturbedCellsIsMadeWhenItCanStillHelp(t *testing.T) {
	for name, tc := range map[string]struct {
		deltas []func(*conduct.Run)
		want   conduct.Act
	}{
		"everything has ended":                             {[]func(*conduct.Run){measured(0)}, conduct.ActScan},
		"a trial goes on":                                  {[]func(*conduct.Run){measured(0), open(1)}, conduct.ActMeasure},
		"it was made":                                      {[]func(*conduct.Run){measured(0), scanned(2)}, conduct.ActReport},
		"a repeat block was measured since":                {[]func(*conduct.Run){measured(1), scanned(2), disturbed(1)}, conduct.ActScan},
		"a lost trial asks for a repeat block anyway":      {[]func(*conduct.Run){measured(0), failed(0, v1alpha1.ReasonPodLost, "")}, conduct.ActBegin},
		"every repeat block was used":                      {[]func(*conduct.Run){measured(2), scanned(3), disturbed(1, 3)}, conduct.ActReport},
		"the run ended early":                              {[]func(*conduct.Run){measured(0), interim(1, 1)}, conduct.ActReport},
		"the time is over, and nothing is left to measure": {[]func(*conduct.Run){measured(0), scanned(2), left(-time.Second)}, conduct.ActReport},
		"the time is over before it could be made":         {[]func(*conduct.Run){measured(0), left(-time.Second)}, conduct.ActReport},
		"the time is over after the last repeat block":     {[]func(*conduct.Run){measured(1), scanned(2), disturbed(1), left(-time.Second)}, conduct.ActReport},
	} {
		t.Run(name, func(t *testing.T) {
			if got := runOf(t, 2, alone, tc.deltas...).Next().Act; got != tc.want {
				t.Errorf("next is %d, want %d", got, tc.want)
			}
		})
	}
}

func TestAScanCountsTheBlocksThatItSaw(t *testing.T) {
	r := runOf(t, 2, alone, measured(1), scanned(2), disturbed(1))
	if diff := cmp.Diff(conduct.Scan{Blocks: 3, Disturbed: []int32{3}}, r.Scanned([]int32{3})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestATrialThatWasLostIsForgivenIfBlocksEnoughAreLeft(t *testing.T) {
	lost, wrong := failed(0, v1alpha1.ReasonPodLost, "gone"), failed(1, v1alpha1.ReasonWrongResponse, "404")
	for name, tc := range map[string]struct {
		deltas []func(*conduct.Run)
		want   []string
	}{
		"none failed":                             {[]func(*conduct.Run){measured(0)}, nil},
		"a lost trial":                            {[]func(*conduct.Run){measured(0), lost}, []string{"quick-000-go"}},
		"a lost trial whose block was repeated":   {[]func(*conduct.Run){measured(1), lost}, nil},
		"two lost, and one block repeated":        {[]func(*conduct.Run){measured(1), lost, failed(2, v1alpha1.ReasonPodLost, "gone")}, []string{"quick-000-go", "quick-002-go"}},
		"a wrong answer is never forgiven":        {[]func(*conduct.Run){measured(1), wrong}, []string{"quick-001-go"}},
		"a trial that goes on has not failed":     {[]func(*conduct.Run){measured(0), lost, open(0)}, nil},
		"a trial that was not needed is no fault": {[]func(*conduct.Run){measured(0), failed(1, v1alpha1.ReasonStoppedEarly, "")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range runOf(t, 2, alone, tc.deltas...).Failed() {
				got = append(got, f.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("failed trials (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBlocksAreEnoughForAVerdictOrAsManyAsWereAskedFor(t *testing.T) {
	lost := func(trials ...int) func(*conduct.Run) {
		return func(r *conduct.Run) {
			for _, i := range trials {
				failed(i, v1alpha1.ReasonPodLost, "gone")(r)
			}
		}
	}
	for name, tc := range map[string]struct {
		blocks int32
		deltas []func(*conduct.Run)
		want   int
	}{
		"seven of nine":                           {9, []func(*conduct.Run){measured(0), lost(0, 8)}, 0},
		"six of nine":                             {9, []func(*conduct.Run){measured(0), lost(0, 4, 8)}, 3},
		"six of nine, and one measured anew":      {9, []func(*conduct.Run){measured(1), lost(0, 4, 8)}, 0},
		"disturbed cells leave a block its trial": {9, []func(*conduct.Run){measured(0), lost(0, 8), disturbed(2, 3, 4)}, 0},
		"all of five":                             {5, []func(*conduct.Run){measured(1), lost(0)}, 0},
		"four of five":                            {5, []func(*conduct.Run){measured(0), lost(0)}, 1},
		"seven of ten, after which it ended":      {12, []func(*conduct.Run){measured(0), interim(10, 10), lost(0, 1, 2), spared(10, 11)}, 0},
		"six of ten, after which it ended":        {12, []func(*conduct.Run){measured(0), interim(10, 10), lost(0, 1, 2, 3), spared(10, 11)}, 4},
		"an implementation's own failure counts":  {9, []func(*conduct.Run){measured(0), lost(0, 8), failed(3, v1alpha1.ReasonServerExited, "")}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := len(runOf(t, tc.blocks, alone, tc.deltas...).Failed()); got != tc.want {
				t.Errorf("%d trials failed the run, want %d", got, tc.want)
			}
		})
	}
}

// spared gives up trials that the run no longer needed.
func spared(trials ...int) func(*conduct.Run) {
	return func(r *conduct.Run) {
		for _, i := range trials {
			failed(i, v1alpha1.ReasonStoppedEarly, "")(r)
		}
	}
}
