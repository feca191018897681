package conduct_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

type fate string

const (
	well           fate = "well"
	lost           fate = "lost before it measured"
	lostUnderLoad  fate = "lost under load"
	silent         fate = "an agent never answers"
	neverStored    fate = "its files are never stored"
	deaf           fate = "the server never listens"
	wrong          fate = "the server answers wrongly"
	exits          fate = "the server exits at once"
	exitsUnderLoad fate = "the server exits under load"
	outwaited      fate = "it waits for its step for too long"
)

// profiling is how long a profile takes.
const profiling = 20 * time.Second

// world is a machine that leads a run. It holds what a backend records, plays events, and checks every decision.
type world struct {
	t *testing.T
	// random decides the order of looks; nil means plan order.
	random *rand.Rand
	// run is the recorded state, trials in order.
	run conduct.Run
	// attempts are the current ones.
	attempts map[string]*conduct.Attempt
	fate     func(t conduct.Trial, attempt int32) fate
	// disturbed blocks have a cell that a scan finds void.
	disturbed []int32
	// away is when the run is not led for two hours; 0 for never.
	away time.Duration
	// narrow is the first block with narrow intervals; 0 for never.
	narrow int32

	end     *conduct.Ending
	verdict *conduct.Verdict
	log     []string
}

func newWorld(t *testing.T, run conduct.Run) *world {
	t.Helper()
	run.Started = noon
	return &world{t: t, run: run, attempts: map[string]*conduct.Attempt{}, fate: func(conduct.Trial, int32) fate { return well }}
}

func (w *world) say(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf("%7s  ", w.run.Now.Sub(noon).Round(time.Second))+fmt.Sprintf(format, args...))
}

func (w *world) over() bool { return w.end != nil || w.verdict != nil }

// play runs until the run and all its trials have ended.
func (w *world) play() {
	w.t.Helper()
	for range 50_000 {
		if w.over() && !slices.ContainsFunc(w.run.Trials, func(t conduct.Trial) bool { return t.Ended.IsZero() }) {
			w.checkEnd()
			return
		}
		w.turn()
	}
	w.t.Fatalf("the run has not ended:\n%s", strings.Join(w.log, "\n"))
}

// turn advances the run, a trial, or the clock.
func (w *world) turn() {
	if w.away > 0 && w.run.Now.Sub(noon) >= w.away {
		left := w.run.Now
		w.away, w.run.Now = 0, left.Add(2*time.Hour)
		w.run.Absence = w.run.Absence.With(left, w.run.Now)
		w.say("nobody has led the run for two hours")
	}
	if w.random == nil {
		w.lead()
		for i := range w.run.Trials {
			w.visit(i)
		}
		w.run.Now = w.run.Now.Add(5 * time.Second)
		return
	}
	switch n := w.random.IntN(10); {
	case n < 3:
		w.lead()
	case n < 8 && len(w.run.Trials) > 0:
		w.visit(w.someTrial())
	case n >= 8:
		w.run.Now = w.run.Now.Add(time.Duration(w.random.IntN(10_000)) * time.Millisecond)
	}
}

// someTrial is often one of the first open ones, so that progress is made, and sometimes any.
func (w *world) someTrial() int {
	if w.random.IntN(4) == 0 {
		return w.random.IntN(len(w.run.Trials))
	}
	return max(slices.IndexFunc(w.run.Trials, func(t conduct.Trial) bool { return t.Ended.IsZero() }), 0)
}

// seen is the run with its trials in random order.
func (w *world) seen() conduct.Run {
	r := w.run
	r.Trials = slices.Clone(r.Trials)
	if w.random != nil {
		w.random.Shuffle(len(r.Trials), func(i, j int) { r.Trials[i], r.Trials[j] = r.Trials[j], r.Trials[i] })
	}
	return r
}

func (w *world) view(trials conduct.Trials) conduct.View {
	v := conduct.View{Name: w.run.Name, Blocks: w.run.Plan.Blocks, Interim: w.run.Interim, Trials: trials}
	if w.over() {
		v.Ended = w.run.Outcome(w.end, w.verdict).Reason
	}
	return v
}

// same checks that the order of trials does not change an answer.
func (w *world) same(what string, want, got any) {
	w.t.Helper()
	if !reflect.DeepEqual(want, got) {
		w.t.Fatalf("the order of observations changes %s:\n%s", what, gocmp.Diff(want, got))
	}
}

func (w *world) lead() {
	if w.over() {
		return
	}
	seen := w.seen()
	step := seen.Next()
	w.same("the next step", w.run.Next(), step)
	w.same("what failed", w.run.Failed(), seen.Failed())
	switch step.Act {
	case conduct.ActBegin:
		w.begin(step.Trials)
	case conduct.ActAnalyse:
		w.allEndedUpTo(step.Block, "the interim analysis")
		narrow := w.narrow > 0 && step.Block >= w.narrow
		w.run.Interim = seen.Interim.Made(step.Block, narrow)
		w.say("the interim analysis after block %d finds the intervals narrow enough: %v", step.Block, narrow)
	case conduct.ActScan:
		w.allEndedUpTo(1000, "the scan")
		w.run.Scan = seen.Scanned(w.voided())
		w.say("the scan of %d blocks finds %v disturbed", w.run.Scan.Blocks, w.run.Scan.Disturbed)
	case conduct.ActReport:
		w.verdict = &conduct.Verdict{Text: "go is faster", Conclusive: true}
	case conduct.ActEnd:
		if w.planMeasured() {
			w.t.Fatalf("the run ends without a report, though all of its planned trials have ended: %+v", *step.Ending)
		}
		w.end = step.Ending
	case conduct.ActMeasure:
	}
	if w.over() {
		o := seen.Outcome(w.end, w.verdict)
		w.say("the run has ended: %s: %s", o.Reason, o.Message)
	}
}

func (w *world) planMeasured() bool {
	planned := 0
	for _, t := range w.run.Trials {
		if t.Block <= w.run.Plan.Blocks && !t.Follows() && !t.Ended.IsZero() {
			planned++
		}
	}
	return planned == len(w.run.Plan.Trials)
}

// voided are the blocks with something stored and a voided cell.
func (w *world) voided() []int32 {
	var blocks []int32
	for _, t := range w.run.Trials {
		if t.Stored != nil && slices.Contains(w.disturbed, t.Block) && !slices.Contains(blocks, t.Block) {
			blocks = append(blocks, t.Block)
		}
	}
	return blocks
}

func (w *world) allEndedUpTo(block int32, what string) {
	w.t.Helper()
	for _, t := range w.run.Trials {
		if t.Block <= block && t.Ended.IsZero() {
			w.t.Fatalf("%s comes while trial %s is open", what, t.Name)
		}
	}
}

// begin creates all requested trials, or some if it is interrupted.
func (w *world) begin(lines []record.PlannedTrial) {
	w.t.Helper()
	if len(lines) == 0 {
		w.t.Fatal("no trial is asked for")
	}
	if w.random != nil {
		lines = lines[:1+w.random.IntN(len(lines))]
	}
	for _, line := range lines {
		if slices.ContainsFunc(w.run.Trials, func(t conduct.Trial) bool { return t.Name == line.Name || t.Index == line.Index }) {
			w.t.Fatalf("trial %s is asked for twice", line.Name)
		}
		if line.Follows() {
			w.followsAll(line)
		} else if last := w.run.Interim.Stopped; last > 0 {
			w.t.Fatalf("trial %s is asked for after the run has ended early, after block %d", line.Name, last)
		}
		if line.Block > w.run.Plan.Blocks {
			w.allEndedUpTo(line.Block-1, fmt.Sprintf("repeat block %d", line.Block))
		}
		if line.Block > w.run.Plan.Blocks+plan.RepeatBlocks(w.run.Plan.Blocks) {
			w.t.Fatalf("block %d is one too many", line.Block)
		}
		w.run.Trials = append(w.run.Trials, conduct.Trial{PlannedTrial: line, Work: kinds.Planned(w.run.Plan.Plan, line), Reason: v1alpha1.ReasonInProgress})
	}
	slices.SortFunc(w.run.Trials, func(a, b conduct.Trial) int { return cmp.Compare(a.Index, b.Index) })
	w.say("begun: %s", strings.Join(names(lines), " "))
}

// followsAll checks that all blocks are measured before the trials after them.
func (w *world) followsAll(line record.PlannedTrial) {
	w.t.Helper()
	blocks := 0
	for _, t := range w.run.Trials {
		if t.Follows() {
			continue
		}
		if blocks++; t.Ended.IsZero() {
			w.t.Fatalf("trial %s is asked for while %s is open", line.Name, t.Name)
		}
	}
	if blocks < len(w.run.Plan.Trials) {
		w.t.Fatalf("trial %s is asked for after %d of %d trials", line.Name, blocks, len(w.run.Plan.Trials))
	}
	if w.run.Now.After(w.run.Deadline()) {
		w.t.Fatalf("trial %s is asked for when the time of the run is over", line.Name)
	}
}

func (w *world) visit(i int) {
	t := &w.run.Trials[i]
	if !t.Ended.IsZero() {
		return
	}
	view, ordered := w.view(w.seen().Trials), w.view(w.run.Trials)
	w.same("whether a trial is given up", ordered.GiveUp(*t), view.GiveUp(*t))
	w.same("for whom a trial waits", ordered.Awaits(*t), view.Awaits(*t))
	if f := view.GiveUp(*t); f != nil {
		w.finish(t, f)
		return
	}
	if view.Awaits(*t) != "" {
		return
	}
	a := w.attempts[t.Name]
	if a == nil {
		first := t.Attempt(1, w.run.Now)
		a = &first
		w.attempts[t.Name] = a
		w.checkTurn(t)
	}
	a.Now = w.run.Now
	if a.Work.EndsItself() && a.Measuring() && a.Now.Sub(a.Started) >= profiling {
		a.Ended = a.Started.Add(profiling)
	}
	if f, stuck := w.happens(*t, *a); f != nil {
		w.fail(t, a, f)
	} else if !stuck {
		w.proceed(t, a)
	}
}

// happens returns what ends the attempt now; stuck means that it makes no progress.
func (w *world) happens(t conduct.Trial, a conduct.Attempt) (f *conduct.Failure, stuck bool) {
	server := record.Implementation{Name: t.Servers[0], Port: 8080}
	over := !a.Started.IsZero() && !a.Now.Before(a.End())
	switch what := w.fate(t, a.Number); {
	case what == lost && !a.Measuring(), what == lostUnderLoad && a.Measuring():
		return conduct.TransientFailure(v1alpha1.ReasonPodLost, "%s", what), true
	case what == outwaited && a.Started.IsZero():
		return conduct.Outwaited("the generator"), true
	case what == silent && a.Started.IsZero():
		return a.AgentSilent("the agent", errors.New("refused")), true
	case what == neverStored && over:
		return a.NotUploaded("server", protocol.State{StoreError: "503"}), true
	case what == deaf:
		return a.NotListening(server, a.Begun, protocol.State{}), true
	case what == wrong && !t.Follows():
		return conduct.Checked(t, "the agent", &protocol.Checked{Message: "GET / answered 404", Fault: protocol.FaultServer}), true
	case what == exits, what == exitsUnderLoad && a.Measuring():
		return conduct.ServerExited(t.Work, server, conduct.Exit{Code: 3, Reason: "Error"}), true
	}
	return nil, false
}

func (w *world) proceed(t *conduct.Trial, a *conduct.Attempt) {
	switch {
	case a.Started.IsZero():
		a.Started = a.StartAt()
		t.Started = a.Started
	case !a.Now.Before(a.End()):
		t.Ended, t.Reason, t.Stored = a.Now, v1alpha1.ReasonDone, &record.Artifact{Key: t.Name}
		t.Nodes = []record.BoundNode{{Member: "server-0", Node: "n1"}}
		w.say("%s is stored", t.Name)
	}
}

func (w *world) fail(t *conduct.Trial, a *conduct.Attempt, f *conduct.Failure) {
	w.t.Helper()
	if !a.Retried(f) {
		w.finish(t, f)
		return
	}
	if f.Kind != conduct.Transient || a.Number-a.Renewed >= plan.Attempts && !f.Waited {
		w.t.Fatalf("%s is tried again after attempt %d: %s", t.Name, a.Number, describe(f))
	}
	w.say("%s: %s", t.Name, a.Note(f))
	t.Started = time.Time{}
	renewed := a.Renewed
	if f.Waited {
		renewed++
	}
	*a = t.Attempt(a.Number+1, a.Now)
	a.Renewed = renewed
}

func (w *world) finish(t *conduct.Trial, f *conduct.Failure) {
	w.t.Helper()
	if outside := v1alpha1.OriginOf(f.Reason) == v1alpha1.OriginInfrastructure; outside != (f.Kind == conduct.Transient) {
		w.t.Fatalf("%s has ended with a kind of failure that its reason does not tell of: %s", t.Name, describe(f))
	}
	t.Ended, t.Reason, t.Message = w.run.Now, f.Reason, f.Message
	w.say("%s has ended: %s", t.Name, describe(f))
}

func (w *world) checkTurn(t *conduct.Trial) {
	w.t.Helper()
	for _, other := range w.run.Trials {
		switch {
		case other.Index < t.Index && other.Ended.IsZero():
			w.t.Fatalf("trial %s is prepared while %s is open", t.Name, other.Name)
		case !other.Follows() && other.Servers[0] == t.Servers[0] && slices.Contains([]string{v1alpha1.ReasonWrongResponse, v1alpha1.ReasonServerNotListening}, other.Reason):
			w.t.Fatalf("trial %s is tried, though %s failed: %s", t.Name, other.Name, other.Message)
		}
	}
	for _, after := range plan.InterimBlocks(w.run.Plan.Blocks) {
		if w.run.Interim.MaxWidth != "" && t.Block > after && w.run.Interim.After < after {
			w.t.Fatalf("trial %s of block %d does not wait for the interim analysis after block %d", t.Name, t.Block, after)
		}
	}
}

func (w *world) checkEnd() {
	w.t.Helper()
	o := w.seen().Outcome(w.end, w.verdict)
	if o.State == conduct.Ongoing || o.Reason == "" || o.Message == "" {
		w.t.Fatalf("the run has ended with %+v", o)
	}
	if w.end != nil && !w.run.Now.After(w.run.Deadline()) {
		w.t.Fatalf("the run was ended before its time: %+v", *w.end)
	}
	if o.Reason == v1alpha1.ReasonTrialsFailed && w.complete() >= verdict.MinBlocks && !w.failedByItself() {
		w.t.Fatalf("the infrastructure fails a run of which %d blocks are complete: %s", w.complete(), o.Message)
	}
	if done, all := w.run.Progress(); done > all {
		w.t.Fatalf("progress is %d of %d", done, all)
	}
	m := w.seen().Manifest(conduct.RunRecord{})
	w.same("the manifest", w.run.Manifest(conduct.RunRecord{}), m)
	listed := map[string]bool{}
	for _, e := range slices.Concat(m.Trials, m.Following) {
		if listed[e.Name] || (e.Manifest == nil) == (e.Reason == "") {
			w.t.Fatalf("the manifest has %+v", e)
		}
		listed[e.Name] = true
	}
	for _, e := range m.Following {
		if !e.Follows() {
			w.t.Fatalf("among what has followed the blocks is %+v", e)
		}
	}
	for _, t := range w.run.Trials {
		if listed[t.Name] == (t.Reason == v1alpha1.ReasonStoppedEarly) || t.Reason == "" {
			w.t.Fatalf("trial %s, %s, is listed: %v", t.Name, t.Reason, listed[t.Name])
		}
	}
}

func (w *world) complete() int {
	stored := map[int32]int{}
	for _, t := range w.run.Trials {
		if t.Stored != nil && !t.Follows() {
			stored[t.Block]++
		}
	}
	maps.DeleteFunc(stored, func(_ int32, n int) bool { return n < len(w.run.Plan.Implementations) })
	return len(stored)
}

// failedByItself reports whether a trial failed without the infrastructure's fault, or without a possible
// replacement.
func (w *world) failedByItself() bool {
	return slices.ContainsFunc(w.run.Trials, func(t conduct.Trial) bool {
		return t.Stored == nil && t.Reason != v1alpha1.ReasonStoppedEarly && (t.Follows() || v1alpha1.OriginOf(t.Reason) != v1alpha1.OriginInfrastructure)
	})
}
