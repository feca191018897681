package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/run/publish"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/test/oracles"
)

const (
	// A fault begins every faultEvery. Those that do not end by themselves last for faultHeld.
	faultEvery, faultHeld = 20 * time.Second, 15 * time.Second
	// faultDeadline limits the start and the undoing of a fault.
	faultDeadline = 2 * time.Minute
	// Without new faults, a run must end within faultPatience of its turn, and its leftovers must go within settled.
	faultPatience, settled = 10 * time.Minute, 5 * time.Minute
	// queued is how many unended runs exist at a time.
	queued = 2
	// The slow server's extra cost exceeds all noise.
	slow, slowBurn = "slow", "--burn=46000"
)

// Runs are queued while a fault begins every twenty seconds, in an order from a seed. Every run must be measured and reported unless faults cost it
// too many trials. Stored data are readable: each trial once, none of a killed attempt. Runs do not change others' data and leave no objects. No
// implementation is blamed, and no winner is wrong.
//
//	LOADSTONE_FAULTS       how long faults begin, such as 20m; 80 seconds unless it is set, and then there are neither faults that take long to get
//	                       over nor runs with blocks enough for a verdict
//	LOADSTONE_FAULTS_SEED  the seed; 1 unless it is set, so that continuous integration asks the same of each change, and one of the clock in a long storm
func TestRandomFaultsLoseNothingAndBlameNobody(t *testing.T) {
	length, seed, long := asked(t)
	if err := removed(); err != nil {
		t.Error(err)
	}
	s := &storm{t: t, chance: rand.New(rand.NewPCG(seed, 0)), length: length, long: long, begun: map[string]int{}, ended: map[string]int{}}
	t.Logf("faults for %s, seed %d; the same again: %s", length, seed, again(length, seed, long))
	for until := time.Now().Add(length); time.Now().Before(until); {
		next := time.Now().Add(faultEvery)
		s.feed()
		s.strike()
		s.collect()
		time.Sleep(time.Until(next))
	}
	for patience := time.Now().Add(faultPatience); len(s.runs) > 0 && time.Now().Before(patience); time.Sleep(time.Second) {
		s.collect()
	}
	for _, run := range s.runs {
		t.Errorf("%s has not ended %s after the last fault: %+v\n%s", run.Name, faultPatience, run.Status.Conditions, describeTrials(t, run))
	}
	s.untouched()
	s.tell()
}

// asked reads for how long faults begin, the seed, and whether the storm is long.
func asked(t *testing.T) (length time.Duration, seed uint64, long bool) {
	t.Helper()
	length, seed = 80*time.Second, 1
	own := os.Getenv("LOADSTONE_FAULTS")
	if own != "" {
		seed = uint64(time.Now().UnixMilli())
		var err error
		if length, err = time.ParseDuration(own); err != nil {
			t.Fatalf("LOADSTONE_FAULTS: %s", err)
		}
	}
	if own := os.Getenv("LOADSTONE_FAULTS_SEED"); own != "" {
		var err error
		if seed, err = strconv.ParseUint(own, 10, 64); err != nil {
			t.Fatalf("LOADSTONE_FAULTS_SEED: %s", err)
		}
	}
	return length, seed, own != ""
}

// again is the command that repeats a storm, on a cluster named by the exports of make -s kubeconfig.
func again(length time.Duration, seed uint64, long bool) string {
	command := fmt.Sprintf("LOADSTONE_FAULTS_SEED=%d go test -count=1 -timeout 60m -v ./test/e2e -run TestRandomFaults", seed)
	if long {
		return fmt.Sprintf("LOADSTONE_FAULTS=%s %s", length, command)
	}
	return command
}

// storm is a queue of runs under faults.
type storm struct {
	t      *testing.T
	chance *rand.Rand
	// length is how long faults begin.
	length time.Duration
	// long storms have faults with a long recovery, and runs with enough blocks for a verdict.
	long bool
	// bag has the faults that were not yet drawn in this round. rounds counts complete rounds.
	bag    []fault
	rounds int
	runs   []*v1alpha1.BenchmarkRun
	made   int
	// begun counts faults by name, ended counts runs by reason.
	begun, ended map[string]int
	// struck are the started faults, kills what they killed.
	struck []oracles.Fault
	kills  []oracles.Kill
	// kept has the digests of ended runs' objects, by key.
	kept                     map[string]string
	stored, retries, repeats int
	// planted counts ended runs with a slow server, found those that found it.
	planted, found int
}

func (s *storm) feed() {
	for len(s.runs) < queued {
		run := s.next()
		if err := apply(s.t, run); apierrors.IsInvalid(err) {
			s.t.Fatal(err)
		} else if err != nil {
			s.t.Logf("applying %s: %s", run.Name, err)
			return // One of our faults is in the way, and ends.
		}
		s.made++
		s.runs = append(s.runs, run)
	}
}

// next returns a small run of two equal servers. In a long storm, every other run has enough blocks for a verdict, alternately with equal servers and
// with a slow one.
func (s *storm) next() *v1alpha1.BenchmarkRun {
	return small(fmt.Sprintf("storm-%03d", s.made), func(spec *v1alpha1.BenchmarkRunSpec) {
		other := *spec.Implementations[0].DeepCopy()
		other.Name = "same"
		spec.Loads[0].DurationSeconds, spec.Blocks, spec.TimeoutSeconds = 3, 2, 900
		if s.long && s.made%2 == 1 {
			spec.Loads[0].DurationSeconds, spec.Blocks, spec.TimeoutSeconds = 1, verdict.MinBlocks, 1800
			if s.made%4 == 1 {
				other.Name, other.Command = slow, append(other.Command, slowBurn)
			}
		}
		spec.Baseline = spec.Implementations[0].Name
		spec.Implementations = append(spec.Implementations, other)
	})
}

// strike begins a fault, holds it and undoes it.
func (s *storm) strike() {
	if len(s.bag) == 0 {
		s.bag = slices.DeleteFunc(faults(), func(f fault) bool { return f.long && !s.long })
		s.chance.Shuffle(len(s.bag), func(i, j int) { s.bag[i], s.bag[j] = s.bag[j], s.bag[i] })
	}
	f := s.bag[0]
	if s.bag = s.bag[1:]; len(s.bag) == 0 {
		s.rounds++
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), faultDeadline)
	defer cancel()
	began := time.Now()
	undo, err := f.begin(ctx, s)
	if err != nil {
		s.t.Logf("%s cannot be done now: %s", f.name, err)
		return
	}
	s.t.Logf("%s", f.name)
	s.begun[f.name]++
	if undo != nil {
		time.Sleep(faultHeld)
		if err := undo(ctx); err != nil {
			s.t.Fatalf("undoing: %s: %s", f.name, err)
		}
	}
	s.struck = append(s.struck, oracles.Fault{Began: began, Over: time.Now().Add(faultEvery), Costly: f.costly})
}

func (s *storm) collect() {
	s.runs = slices.DeleteFunc(s.runs, func(run *v1alpha1.BenchmarkRun) bool {
		if err := loadstone.Client.Get(s.t.Context(), client.ObjectKeyFromObject(run), run); err != nil {
			s.t.Logf("looking at %s: %s", run.Name, err)
			return false
		}
		if !ended(run) {
			return false
		}
		s.untouched()
		s.judge(run)
		remove(s.t, run)
		return true
	})
}

func (s *storm) judge(run *v1alpha1.BenchmarkRun) {
	c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded)
	if c == nil || c.Reason == "" || c.Status == metav1.ConditionUnknown {
		s.t.Errorf("%s has ended without a reason: %+v", run.Name, run.Status.Conditions)
		return
	}
	s.ended[c.Reason]++
	s.t.Logf("%s: %s: %s", run.Name, c.Reason, c.Message)
	stored := 0
	for _, tr := range trials(s.t, run) {
		s.retries += len(tr.Status.Failures)
		if tr.Status.ManifestKey != "" {
			stored++
		}
	}
	s.read(run, c.Reason, stored)
	for deadline := time.Now().Add(settled); ; time.Sleep(time.Second) {
		var pods corev1.PodList
		err := loadstone.Client.List(s.t.Context(), &pods, client.MatchingLabels{v1alpha1.LabelRunUID: string(run.UID)})
		if err == nil && len(pods.Items) == 0 {
			return
		}
		if time.Now().After(deadline) {
			s.t.Errorf("%s after its end %s has left %d pods: %v", settled, run.Name, len(pods.Items), err)
			return
		}
	}
}

// read reads a run with the digest of each object, and asks the oracles.
func (s *storm) read(run *v1alpha1.BenchmarkRun, reason string, stored int) {
	data, err := publish.Read(s.t.Context(), loadstone.Store, prefix(run), "")
	if err != nil || run.Status.StartTime == nil {
		s.t.Errorf("%s has ended with %s, and cannot be read back: %v", run.Name, reason, err)
		return
	}
	if len(data.Trials) != stored {
		s.t.Errorf("of %s %d trials are stored, and %d are read back", run.Name, stored, len(data.Trials))
	}
	s.stored += len(data.Trials)
	s.repeats += int(data.Manifest.RepeatBlocks)
	o := oracles.Run{
		Reason: reason, Began: run.Status.StartTime.Time, Ended: run.Status.CompletionTime.Time, Data: data, Committed: map[string]int{},
	}
	for _, e := range data.Manifest.Trials {
		if o.Committed[e.Name], err = committed(s.t.Context(), prefix(run), e); err != nil {
			s.t.Errorf("looking for the manifests of %s: %s", e.Name, err)
		}
	}
	if i := run.Spec.Implementations[1]; i.Name == slow {
		o.Slow = i.Name
		s.planted++
	}
	found, wrong := o.Check(s.struck, s.kills)
	if found == oracles.Right {
		s.found++
	}
	for _, w := range wrong {
		s.t.Errorf("%s: %s", run.Name, w)
	}
	if err := s.keep(run); err != nil {
		s.t.Errorf("%s has ended with %s, and its record or its report cannot be read: %s", run.Name, reason, err)
	}
}

func committed(ctx context.Context, of string, e record.TrialEntry) (n int, err error) {
	for attempt := int32(1); attempt <= plan.Attempts; attempt++ {
		folder := artifact.TrialPrefix(of, e.Name, attempt)
		objects, err := loadstone.Store.List(ctx, folder)
		if err != nil {
			return n, err
		}
		if slices.ContainsFunc(objects, func(o artifact.Object) bool { return o.Key == artifact.ManifestKey(folder) }) {
			n++
		}
	}
	return n, nil
}

// keep remembers the digests of a run's record and report, which have the digests of its other objects.
func (s *storm) keep(run *v1alpha1.BenchmarkRun) error {
	manifest, err := loadstone.Store.Find(s.t.Context(), artifact.ManifestKey(prefix(run)))
	if err != nil {
		return err
	}
	_, page, found := strings.Cut(strings.TrimPrefix(run.Status.Report.URI, "s3://"), "/")
	if !found || run.Status.Report.SHA256 == "" {
		return errors.New("it has no report")
	}
	if s.kept == nil {
		s.kept = map[string]string{}
	}
	s.kept[manifest.Key], s.kept[page] = manifest.SHA256, run.Status.Report.SHA256
	return nil
}

// untouched checks that the objects of ended runs are unchanged.
func (s *storm) untouched() {
	for key, sha := range s.kept {
		if _, err := loadstone.Store.Get(s.t.Context(), key, sha); err != nil {
			s.t.Errorf("a later run has touched what was stored: %s", err)
			delete(s.kept, key) // Once is enough.
		}
	}
}

// tell reports the storm, and fails if it could not show anything.
func (s *storm) tell() {
	s.t.Logf("%d runs: %s; %d trials stored, %d attempts given up, %d repeat blocks", s.made-len(s.runs), counted(s.ended), s.stored, s.retries, s.repeats)
	s.t.Logf("faults: %s", counted(s.begun))
	s.t.Logf("%d runs had a slow server, and %d have found it", s.planted, s.found)
	if s.stored == 0 {
		s.t.Error("no trial was stored: nothing was tested")
	}
	if s.rounds == 0 && s.length < 2*faultEvery*time.Duration(len(faults())) {
		return // It had no time for all of them.
	}
	for _, f := range faults() {
		if s.begun[f.name] == 0 && (s.long || !f.long) {
			s.t.Errorf("%s: that could never be done, and so was not tested", f.name)
		}
	}
}

func counted(all map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		parts = append(parts, fmt.Sprintf("%d × %s", all[name], name))
	}
	return strings.Join(parts, ", ")
}
