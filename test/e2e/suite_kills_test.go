package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

const (
	// killsOfARound is the number of kills per round. The minimum number of rounds follows from it.
	killsOfARound = 5
	// The operator is killed at a random moment within killedWithin of becoming leader. A round takes about twice as long.
	killedWithin = 6 * time.Second
	// killPatience limits the wait for a new leader, or for an undisturbed round.
	killPatience = 5 * time.Minute
)

// The operator is killed at random moments during a suite's rounds. The first kill happens while a trial measures, and that trial succeeds in its
// first attempt. Each requested round starts once, each run is created once, and each trial is stored once.
//
//	LOADSTONE_SUITE_KILLS       how often the operator is killed: 3 unless it is set
//	LOADSTONE_SUITE_KILLS_SEED  the seed by which the moments are drawn; 1 unless it is set
func TestAnOperatorThatIsKilledMeasuresEachRoundOnce(t *testing.T) {
	kills, seed := fromEnvironment(t, "LOADSTONE_SUITE_KILLS", 3), fromEnvironment(t, "LOADSTONE_SUITE_KILLS_SEED", 1)
	s := aSuite(t, "killed",
		small("long", func(spec *v1alpha1.BenchmarkRunSpec) { spec.Loads[0].DurationSeconds = 5 }),
		small("short"))
	keep := int32(100)
	s.Spec.Triggers.Change.Images, s.Spec.History = v1alpha1.ImagesAsWritten, v1alpha1.History{Passed: &keep, Failed: &keep}
	if err := loadstone.Client.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeSuite(t, s) })
	h := &hunted{t: t, suite: s, chance: rand.New(rand.NewPCG(uint64(seed), 0)), made: map[string]types.UID{}, rounds: 1}
	least := max(2, kills/killsOfARound)
	t.Logf("%d kills over at least %d rounds, seed %d", kills, least, seed)
	h.killAMeasuringOne()
	for ; ; time.Sleep(100 * time.Millisecond) {
		h.look()
		ended := h.ended()
		if ended && h.killed >= kills && int(h.rounds) >= least {
			break
		}
		if ended {
			h.rounds, h.last = h.rounds+1, time.Now()
			request(t, s.Name, fmt.Sprintf("round-%d", h.rounds))
		}
		if h.killed < kills {
			h.hunt()
		}
		if time.Since(h.last) > killPatience {
			t.Fatalf("nobody leads, or round %d does not end: %+v", h.rounds, readSuite(t, s.Name).Status)
		}
	}
	h.judge()
}

func fromEnvironment(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q, and must be a number from 1 on", variable, text)
	}
	return n
}

// hunted is a suite whose operator is killed.
type hunted struct {
	t      *testing.T
	suite  *v1alpha1.BenchmarkSuite
	chance *rand.Rand
	// made has all runs so far, by name.
	made map[string]types.UID
	// rounds counts requested rounds, killed all kills, and hard those without time to release the lease.
	rounds       int32
	killed, hard int
	// victim is the leader and at the time of its kill. last is the time of the last kill or request.
	victim   string
	at, last time.Time
}

// look records runs. None may be a new one with the same name.
func (h *hunted) look() {
	h.t.Helper()
	for _, run := range runsOf(h.t, h.suite) {
		if before, seen := h.made[run.Name]; seen && before != run.UID {
			h.t.Fatalf("the run %s was made twice", run.Name)
		}
		h.made[run.Name] = run.UID
	}
}

// ended reports whether the last requested round has ended.
func (h *hunted) ended() bool {
	h.t.Helper()
	s := readSuite(h.t, h.suite.Name)
	return s.Status.LastRound.Round == h.rounds && s.Status.Current.Round == 0
}

// killAMeasuringOne kills the operator during the first trial, and expects no loss.
func (h *hunted) killAMeasuringOne() {
	h.t.Helper()
	var first *v1alpha1.BenchmarkRun
	for deadline := time.Now().Add(3 * time.Minute); first == nil; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			h.t.Fatalf("nothing is measured: %+v", readSuite(h.t, h.suite.Name).Status)
		}
		runs := runsOf(h.t, h.suite)
		if i := slices.IndexFunc(runs, func(r v1alpha1.BenchmarkRun) bool { return measuring(h.t)(&r) }); i >= 0 {
			first = &runs[i]
		}
	}
	h.look()
	kill(h.t)
	h.killed, h.last = h.killed+1, time.Now()
	await(h.t, first, 3*time.Minute, "ended", ended)
	for _, tr := range trials(h.t, first) {
		if tr.Status.Attempt != 1 || len(tr.Status.Failures) != 0 {
			h.t.Errorf("%s was measured in attempt %d after %v", tr.Name, tr.Status.Attempt, tr.Status.Failures)
		}
	}
}

// hunt kills the leader at its time, and draws a time for each new leader.
func (h *hunted) hunt() {
	h.t.Helper()
	leads := h.leader()
	if leads == nil {
		return
	}
	if leads.Name != h.victim {
		h.victim, h.at = leads.Name, time.Now().Add(time.Duration(h.chance.Int64N(int64(killedWithin))))
	}
	if time.Now().Before(h.at) {
		return
	}
	// A kubelet also sends a signal, and the process then releases its lease. For half of the kills it cannot.
	if h.chance.IntN(2) == 0 {
		if err := signal(leads, syscall.SIGKILL); err != nil {
			h.t.Logf("killing the process: %v", err) // It may have ended just now.
		}
		h.hard++
	}
	kill(h.t)
	h.killed, h.last = h.killed+1, time.Now()
	h.at = h.last.Add(time.Hour) // Until another leads.
}

func (h *hunted) leader() *corev1.Pod {
	h.t.Helper()
	pod, err := onlyPod(h.t.Context(), "operator")
	if err != nil || pod.Status.Phase != corev1.PodRunning {
		return nil
	}
	var lease coordinationv1.Lease
	if err := loadstone.Client.Get(h.t.Context(), client.ObjectKey{Namespace: system, Name: "loadstone"}, &lease); err != nil {
		h.t.Fatal(err)
	}
	if holder := lease.Spec.HolderIdentity; holder == nil || !strings.HasPrefix(*holder, pod.Name+"_") {
		return nil
	}
	return pod
}

// judge expects each round to have been measured once.
func (h *hunted) judge() {
	h.look()
	s := readSuite(h.t, h.suite.Name)
	perRound := map[string][]string{}
	stored, retries := 0, 0
	for _, run := range runsOf(h.t, h.suite) {
		perRound[run.Labels[v1alpha1.LabelRound]] = append(perRound[run.Labels[v1alpha1.LabelRound]], run.Name)
		n, again := h.judgeRun(&run)
		stored, retries = stored+n, retries+again
	}
	for round := int32(1); round <= h.rounds; round++ {
		if runs := perRound[strconv.Itoa(int(round))]; len(runs) != len(h.suite.Spec.Runs) {
			h.t.Errorf("round %d has the runs %q, want %d", round, runs, len(h.suite.Spec.Runs))
		}
	}
	if len(perRound) != int(h.rounds) || len(h.made) != int(h.rounds)*len(h.suite.Spec.Runs) {
		h.t.Errorf("%d rounds were asked for, there are %d, and %d runs were made", h.rounds, len(perRound), len(h.made))
	}
	for i, line := range s.Status.History {
		if want := h.rounds - int32(i); line.Round != want || line.Outcome == v1alpha1.RoundReplaced || line.Outcome == v1alpha1.RoundIncomplete {
			h.t.Errorf("line %d of the history is %+v, want round %d", i, line, want)
		}
	}
	h.t.Logf("the operator was killed %d times over %d rounds, %d of them without a word; %d trials stored, %d attempts given up", h.killed, h.rounds, h.hard, stored, retries)
}

// judgeRun expects each trial to be stored once, and returns the numbers of trials and abandoned attempts.
func (h *hunted) judgeRun(run *v1alpha1.BenchmarkRun) (stored, retries int) {
	h.t.Helper()
	c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded)
	if !ended(run) || c == nil || c.Reason == "" {
		h.t.Errorf("%s has not ended: %+v", run.Name, run.Status.Conditions)
		return 0, 0
	}
	for _, tr := range trials(h.t, run) {
		retries += len(tr.Status.Failures)
		if tr.Status.ManifestKey != "" {
			stored++
		}
	}
	data := load(h.t, run)
	h.t.Logf("%s of round %s: %s, %d of %d trials stored", run.Name, run.Labels[v1alpha1.LabelRound], c.Reason, len(data.Trials), planned(run, data))
	// A kill while agents are started may cost an attempt, and three may cost a trial. The round is not repeated for that.
	if c.Reason != v1alpha1.ReasonTrialsFailed && len(data.Trials) != planned(run, data) || len(data.Trials) != stored {
		h.t.Errorf("%s has ended with %s: %d trials are in its record, %d are stored, and %d planned", run.Name, c.Reason, len(data.Trials), stored, planned(run, data))
	}
	h.onceStored(run, data)
	return stored, retries
}

// onceStored expects one manifest in the store for each trial of the record.
func (h *hunted) onceStored(run *v1alpha1.BenchmarkRun, data record.RunData) {
	h.t.Helper()
	for _, e := range data.Manifest.Trials {
		n, err := committed(h.t.Context(), prefix(run), e)
		if want := map[bool]int{true: 1}[e.Manifest != nil]; err != nil || n != want {
			h.t.Errorf("%d manifests of %s are stored, want %d: %v", n, e.Name, want, err)
		}
	}
}
