package controllers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

func asDuet(s *v1alpha1.BenchmarkRunSpec) { s.Order, s.Blocks = v1alpha1.OrderSlicedDuet, 2 }

func TestDuetFromApplyToReport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.awaitEnd(w.apply("duet", with("go", v1alpha1.Implementation{Name: "go2", Image: "go2:1"}), asDuet))

	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	condition(t, run.Status.Conditions, v1alpha1.ConditionPlanned, metav1.ConditionTrue, v1alpha1.ReasonDone, "2 trials of 1 cell")
	condition(t, run.Status.Conditions, v1alpha1.ConditionConclusive, metav1.ConditionFalse, v1alpha1.ReasonTooFewBlocks)
	if run.Status.Progress != "2/2" || !strings.Contains(run.Status.Verdict, "go2") {
		t.Errorf("progress %s, verdict %q", run.Status.Progress, run.Status.Verdict)
	}
	var want []string
	for _, trial := range w.trials(run) {
		attempt := fmt.Sprintf("%s attempt %d ", trial.Name, trial.Status.Attempt)
		want = append(want, attempt+"generator-0", attempt+"server-0", attempt+"server-1")
	}
	if diff := cmp.Diff(want, w.agents.started()); diff != "" {
		t.Errorf("who was told to start (-want +got):\n%s", diff)
	}
	store, err := artifact.Open(w.store)
	w.must(err)
	d, err := store.Load(t.Context(), artifact.RunPrefix("", facts.Run(run)), "")
	w.must(err)
	for i, trial := range d.Trials {
		m := trial.Manifest
		if !slices.Contains(m.Servers, "go") || !slices.Contains(m.Servers, "go2") || !slices.Equal(d.Manifest.Trials[i].Servers, m.Servers) {
			t.Errorf("trial %d is of %s, and %s in the run's manifest", i, m.Servers, d.Manifest.Trials[i].Servers)
		}
		if len(trial.Servers[0].Cells) != 1 || len(trial.Servers[1].Cells) != 1 || len(trial.Generators) != 1 || len(trial.Generators[0].Cells) != 2 {
			t.Errorf("trial %d was read back as %+v", i, trial)
		}
		if members := []string{m.Pods[0].Member, m.Pods[1].Member, m.Pods[2].Member}; !cmp.Equal(members, []string{"generator-0", record.MemberServer(0), record.MemberServer(1)}) {
			t.Errorf("trial %d has the pods %s", i, members)
		}
	}
}

func TestWrongServerOfDuetIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.awaitEnd(w.apply("duet", with("go", v1alpha1.Implementation{Name: "bad", Image: imageWrong}), asDuet))
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionFalse, v1alpha1.ReasonTrialsFailed, "implementations[bad]: GET / answered 500 instead of 200")
	if trials := w.trials(run); len(trials) != 2 {
		t.Errorf("%d trials", len(trials))
	} else {
		condition(t, trials[1].Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionFalse, v1alpha1.ReasonWrongResponse, "skipped: trial duet-000-duet")
	}
}

func TestDisturbedDuetIsRepeatedWithBothServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.apply("duet", with("go", v1alpha1.Implementation{Name: "go2", Image: "go2:1"}), asDuet, ample)
	first := w.awaitMeasuring("duet-000-duet", 1)
	attempt := first.Status.Attempt
	deletePod(w, first, record.MemberServer(1))
	run = w.awaitHastened(run)
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	trials := w.trials(run)
	if len(trials) != 3 {
		t.Fatalf("%d trials, want the lost one, its neighbour and a repeat one", len(trials))
	}
	lost, repeat := trials[0], trials[2]
	condition(t, lost.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionFalse, v1alpha1.ReasonPodLost, fmt.Sprintf("another client deleted pod duet-000-duet-%d-s1", attempt))
	if first, second := repeat.Labels[v1alpha1.LabelImplementation], repeat.Labels[v1alpha1.LabelPeer]; repeat.Spec.Block != 3 || first == "" || second == "" || first == second {
		t.Errorf("the repeat trial is of block %d and of %q and %q", repeat.Spec.Block, first, second)
	}
}

// duetScope is a pass over a duet whose pods run.
func duetScope(server, beside, generator string) *trialScope {
	s := scopeOf()
	other := s.plan.Implementations[0]
	other.Name, other.Port = "go2", 8081
	s.plan.Implementations, s.plan.Trials[0].Servers = append(s.plan.Implementations, other), []string{"go", "go2"}
	p := pod(v1alpha1.RoleServer)
	p.Name, p.Labels[v1alpha1.LabelMember], p.Status.PodIP = render.PodName("quick-000-go", 1, record.MemberServer(1)), record.MemberServer(1), "192.0.2.2"
	s.members = append(s.members, memberIn(record.MemberServer(1), p))
	for i, list := range []string{generator, server, beside} {
		s.members[i].state = &protocol.State{CPUsAllowed: list}
	}
	return s
}

func TestTheCPUOfADuet(t *testing.T) {
	for name, tc := range map[string]struct {
		server, beside, generator string
		elsewhere                 bool
		want                      int32
	}{
		"the highest of both":                     {server: "0-3", beside: "0-2", generator: "5", want: 2},
		"none that the generator owns":            {server: "0-3", beside: "0-3", generator: "3", want: 2},
		"one that the generator shares too":       {server: "0-1", beside: "0-1", generator: "0-1", want: 1},
		"a generator elsewhere has other numbers": {server: "0-3", beside: "0-3", generator: "3", elsewhere: true, want: 3},
		"the only one":                            {server: "7", beside: "7", generator: "0", want: 7},
		"none in common":                          {server: "1", beside: "2", generator: "0", want: -1},
		"nothing known":                           {server: "unknown", beside: "0-3", generator: "0", want: -1},
	} {
		t.Run(name, func(t *testing.T) {
			s := duetScope(tc.server, tc.beside, tc.generator)
			if tc.elsewhere {
				s.generators()[0].pod.Spec.NodeName = "n2"
			}
			got := int32(-1)
			if cpu := s.serverCPU(); cpu != nil {
				got = *cpu
			}
			if got != tc.want {
				t.Errorf("CPU %d, want %d", got, tc.want)
			}
		})
	}
	if cpu := scopeOf().serverCPU(); cpu != nil {
		t.Errorf("a server that owns its CPU is put on CPU %d", *cpu)
	}
}

func TestDuetWithoutCommonCPUIsNotStarted(t *testing.T) {
	start := metav1.NewMicroTime(noon.Add(conduct.StartLead))
	s := duetScope("1", "2", "0")
	s.trial.Status.StartTime = &start
	next, err := (&TrialReconciler{}).start(t.Context(), s)
	if err != nil || !next.Stop || s.fault == nil || s.fault.Reason != v1alpha1.ReasonUnschedulable || !strings.Contains(s.fault.Message, `CPUs "1" of n1 and "2" of n1`) {
		t.Fatalf("it goes on with %+v, %v, %+v", next, err, s.fault)
	}
	if attemptFacts(s).Retried(s.fault) {
		t.Error("it is tried again, which would show the same")
	}
}

func TestDuetFaultNamesItsServer(t *testing.T) {
	for i, want := range []string{"implementations[go] exited", "implementations[go2] exited"} {
		s := duetScope("0", "0", "0")
		s.servers()[i].pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error"}}
		if f := podFacts(s).Fault(); f == nil || f.Kind != conduct.Permanent || !strings.HasPrefix(f.Message, want) {
			t.Errorf("%+v, want %s", f, want)
		}
	}
	if got := duetScope("0", "0", "0").targets(); !slices.Equal(got, []string{"192.0.2.1:8080", "192.0.2.2:8081"}) {
		t.Errorf("the targets are %s", got)
	}
}
