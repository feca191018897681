package conduct_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
)

func trialOf(index int32, implementation string, deltas ...func(*conduct.Trial)) conduct.Trial {
	t := conduct.Trial{}
	t.Name, t.Index, t.Block, t.Servers = fmt.Sprintf("quick-%03d-%s", index, implementation), index, index+1, []string{implementation}
	for _, d := range deltas {
		d(&t)
	}
	return t
}

func because(reason string) func(*conduct.Trial) {
	return func(t *conduct.Trial) { t.Ended, t.Reason, t.Message = noon, reason, "it was so" }
}

func started(t *conduct.Trial) { t.Started = noon }

func duet(t *conduct.Trial) { t.Servers = append(t.Servers, "epoll") }

func TestATrialFollowsItsRunToItsEnd(t *testing.T) {
	early := conduct.Interim{MaxWidth: "0.05", After: 10, Stopped: 10}
	for name, tc := range map[string]struct {
		view  conduct.View
		trial conduct.Trial
		want  string
	}{
		"the run goes on":                       {conduct.View{}, trialOf(0, "go"), ""},
		"the run is gone":                       {conduct.View{Deleted: true}, trialOf(0, "go"), "cancelled Deleted: BenchmarkRun quick is being deleted"},
		"the run has ended":                     {conduct.View{Ended: v1alpha1.ReasonTimedOut}, trialOf(0, "go", started), "cancelled TimedOut: BenchmarkRun quick has ended"},
		"the run ended early":                   {conduct.View{Interim: early}, trialOf(10, "go"), "cancelled StoppedEarly: BenchmarkRun quick stopped early, after block 10: its intervals are narrow enough"},
		"the run ended early, and was reported": {conduct.View{Interim: early, Ended: v1alpha1.ReasonDone}, trialOf(10, "go"), "cancelled StoppedEarly"},
		"the run ended after the trial's block": {conduct.View{Interim: early}, trialOf(9, "go"), ""},
		"the trial had begun to measure":        {conduct.View{Interim: early}, trialOf(10, "go", started), ""},
	} {
		t.Run(name, func(t *testing.T) {
			tc.view.Name = "quick"
			got := describe(tc.view.GiveUp(tc.trial))
			if tc.want == "" && got != "" || !strings.HasPrefix(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestAFailureThatEveryTrialWouldShowEndsTheOthers(t *testing.T) {
	bound := trialOf(2, "go", func(t *conduct.Trial) {
		t.Ended, t.Stored, t.Nodes = noon, &record.Artifact{Key: "k"}, []record.BoundNode{{Member: "server-0", Node: "n1"}}
	})
	for name, tc := range map[string]struct {
		siblings conduct.Trials
		trial    conduct.Trial
		want     string
	}{
		"a wrong response":                      {conduct.Trials{trialOf(1, "go", because(v1alpha1.ReasonWrongResponse))}, trialOf(0, "go"), "permanent WrongResponse: skipped: trial quick-001-go has already failed this way: it was so"},
		"an image that cannot be pulled":        {conduct.Trials{trialOf(1, "go", because(v1alpha1.ReasonImagePull))}, trialOf(0, "go"), "permanent ImagePull"},
		"a pod that is refused":                 {conduct.Trials{trialOf(1, "go", because(v1alpha1.ReasonPodRejected))}, trialOf(0, "go"), "permanent PodRejected"},
		"a port that nobody listens on":         {conduct.Trials{trialOf(1, "go", because(v1alpha1.ReasonServerNotListening))}, trialOf(0, "go"), "permanent ServerNotListening"},
		"a server that ends at once":            {conduct.Trials{trialOf(1, "go", because(v1alpha1.ReasonServerExited))}, trialOf(0, "go"), "permanent ServerExited"},
		"a server that ends under load":         {conduct.Trials{trialOf(1, "go", started, because(v1alpha1.ReasonServerExited))}, trialOf(0, "go"), ""},
		"a program that fails at once":          {conduct.Trials{trialOf(1, "go", started, because(v1alpha1.ReasonProgramFailed))}, trialOf(0, "go"), "permanent ProgramFailed"},
		"a program that had ended well":         {conduct.Trials{trialOf(1, "go", started, because(v1alpha1.ReasonProgramFailed)), bound}, trialOf(0, "go"), ""},
		"a program that had printed well":       {conduct.Trials{trialOf(1, "go", started, because(v1alpha1.ReasonOutputUnreadable)), bound}, trialOf(0, "go"), "permanent OutputUnreadable"},
		"a member that was lost":                {conduct.Trials{trialOf(1, "go", because(v1alpha1.ReasonPodLost))}, trialOf(0, "go"), ""},
		"somebody else's wrong response":        {conduct.Trials{trialOf(1, "rust", because(v1alpha1.ReasonWrongResponse))}, trialOf(0, "go"), ""},
		"a load that cannot be made":            {conduct.Trials{trialOf(1, "rust", because(v1alpha1.ReasonLoadImpossible))}, trialOf(0, "go"), "permanent LoadImpossible"},
		"somebody else's Secret is not there":   {conduct.Trials{trialOf(1, "rust", because(v1alpha1.ReasonObjectMissing))}, trialOf(0, "go"), "permanent ObjectMissing"},
		"somebody else's ConfigMap has changed": {conduct.Trials{trialOf(1, "rust", because(v1alpha1.ReasonObjectChanged))}, trialOf(0, "go"), "permanent ObjectChanged"},
		"its own earlier end":                   {conduct.Trials{trialOf(0, "go", because(v1alpha1.ReasonWrongResponse))}, trialOf(0, "go"), ""},
		"a trial that has not ended":            {conduct.Trials{trialOf(1, "go", func(t *conduct.Trial) { t.Reason = v1alpha1.ReasonWrongResponse })}, trialOf(0, "go"), ""},
		"a trial that was stored":               {conduct.Trials{bound}, trialOf(0, "go"), ""},
		"no node, and the run may still choose": {conduct.Trials{trialOf(1, "go", because(v1alpha1.ReasonUnschedulable))}, trialOf(0, "go"), "permanent Unschedulable"},
		"no node, and the run is bound":         {conduct.Trials{trialOf(1, "go", because(v1alpha1.ReasonUnschedulable)), bound}, trialOf(0, "go"), ""},
		"either server of a duet":               {conduct.Trials{trialOf(1, "go", duet, because(v1alpha1.ReasonWrongResponse))}, trialOf(0, "go", duet, func(t *conduct.Trial) { slices.Reverse(t.Servers) }), "permanent WrongResponse"},
		"the first of several that show it": {
			conduct.Trials{trialOf(4, "go", because(v1alpha1.ReasonWrongResponse)), trialOf(3, "go", because(v1alpha1.ReasonImagePull))},
			trialOf(5, "go"), "permanent ImagePull: skipped: trial quick-003-go has already failed this way",
		},
	} {
		t.Run(name, func(t *testing.T) {
			others := append(slices.Clone(tc.siblings), trialOf(8, "zig"))
			got := describe(conduct.View{Baseline: "go", Trials: others}.GiveUp(tc.trial))
			if tc.want == "" && got != "" || !strings.HasPrefix(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestATrialIsStoppedIfNothingIsLeftToCompareItWith(t *testing.T) {
	wrong := because(v1alpha1.ReasonWrongResponse)
	const alone = "cancelled StoppedEarly: BenchmarkRun quick stopped early, because nothing is left to compare: trial quick-000-%s has already failed this way: it was so"
	for name, tc := range map[string]struct {
		trials conduct.Trials
		trial  conduct.Trial
		want   string
	}{
		"the baseline failed":                 {conduct.Trials{trialOf(0, "go", wrong), trialOf(1, "rust"), trialOf(2, "zig")}, trialOf(2, "zig"), fmt.Sprintf(alone, "go")},
		"the only contender failed":           {conduct.Trials{trialOf(0, "rust", wrong), trialOf(1, "go")}, trialOf(1, "go"), fmt.Sprintf(alone, "rust")},
		"one of two contenders failed":        {conduct.Trials{trialOf(0, "rust", wrong), trialOf(1, "go"), trialOf(2, "zig")}, trialOf(1, "go"), ""},
		"both contenders failed":              {conduct.Trials{trialOf(0, "rust", wrong), trialOf(1, "zig", wrong), trialOf(2, "go")}, trialOf(2, "go"), fmt.Sprintf(alone, "rust")},
		"the only contender was lost":         {conduct.Trials{trialOf(0, "rust", because(v1alpha1.ReasonPodLost)), trialOf(1, "go")}, trialOf(1, "go"), ""},
		"the only contender ended under load": {conduct.Trials{trialOf(0, "rust", started, because(v1alpha1.ReasonServerExited)), trialOf(1, "go")}, trialOf(1, "go"), ""},
		"a trial after the blocks":            {conduct.Trials{trialOf(0, "rust", wrong), trialOf(1, "go")}, trialOf(1, "go", func(t *conduct.Trial) { t.Block = 0 }), ""},
		"there is only one implementation":    {conduct.Trials{trialOf(0, "go"), trialOf(1, "go")}, trialOf(1, "go"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := describe(conduct.View{Name: "quick", Baseline: "go", Trials: tc.trials}.GiveUp(tc.trial)); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestTrialsComeOneAfterTheOther(t *testing.T) {
	over := because(v1alpha1.ReasonWrongResponse)
	for name, tc := range map[string]struct {
		trials conduct.Trials
		want   string
	}{
		"it is the first":              {conduct.Trials{trialOf(2, "go"), trialOf(3, "go")}, ""},
		"another comes first":          {conduct.Trials{trialOf(1, "go"), trialOf(2, "go")}, "waiting for trial quick-001-go"},
		"the others before have ended": {conduct.Trials{trialOf(0, "go", over), trialOf(1, "go", over), trialOf(2, "go")}, ""},
		"the first of those is named":  {conduct.Trials{trialOf(2, "go"), trialOf(1, "go"), trialOf(0, "go")}, "waiting for trial quick-000-go"},
	} {
		t.Run(name, func(t *testing.T) {
			trial := trialOf(2, "go")
			if got := (conduct.View{Trials: tc.trials}).Awaits(trial); got != tc.want {
				t.Errorf("it awaits %q, want %q", got, tc.want)
			}
			trial.Begun = true
			if got := (conduct.View{Trials: tc.trials}).Awaits(trial); got != "" {
				t.Errorf("it has begun, and awaits %q", got)
			}
		})
	}
}
