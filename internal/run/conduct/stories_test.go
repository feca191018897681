package conduct_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/conduct"
)

// befalls gives attempts (TRIAL or TRIAL/ATTEMPT) their fates. The others succeed.
func befalls(fates map[string]fate) func(*world) {
	return func(w *world) {
		w.fate = func(t conduct.Trial, attempt int32) fate {
			for _, name := range []string{t.Name, fmt.Sprintf("%s/%d", t.Name, attempt), t.Servers[0]} {
				if f, ok := fates[name]; ok {
					return f
				}
			}
			return well
		}
	}
}

// In each story everyone looks every five seconds; the log is golden.
func TestStories(t *testing.T) {
	two := []string{"go", "epoll"}
	for file, tc := range map[string]struct {
		run    conduct.Run
		deltas []func(*world)
	}{
		"all-is-well":           {runOf(t, 2, two), nil},
		"a-block-is-disturbed":  {runOf(t, 2, two), []func(*world){func(w *world) { w.disturbed = []int32{2} }}},
		"repeat-blocks-are-too": {runOf(t, 2, alone), []func(*world){func(w *world) { w.disturbed = []int32{1, 3, 4} }}},
		"a-trial-is-lost-early": {runOf(t, 1, alone), []func(*world){befalls(map[string]fate{"quick-000-go/1": lost, "quick-000-go/2": silent})}},
		"a-trial-waits-for-hours": {runOf(t, 1, alone), []func(*world){befalls(map[string]fate{
			"quick-000-go/1": outwaited, "quick-000-go/2": outwaited, "quick-000-go/3": lost, "quick-000-go/4": outwaited, "quick-000-go/5": lost,
		})}},
		"a-trial-is-lost-thrice":         {runOf(t, 2, alone), []func(*world){befalls(map[string]fate{"quick-001-go": lost})}},
		"a-trial-is-lost-under-load":     {runOf(t, 2, two), []func(*world){befalls(map[string]fate{"quick-001-go": lostUnderLoad})}},
		"files-are-never-stored":         {runOf(t, 1, alone, longer), []func(*world){befalls(map[string]fate{"quick-000-go": neverStored})}},
		"a-server-answers-wrongly":       {runOf(t, 2, two), []func(*world){befalls(map[string]fate{"epoll": wrong})}},
		"a-server-exits-under-load":      {runOf(t, 2, two), []func(*world){befalls(map[string]fate{"epoll": exitsUnderLoad})}},
		"no-server-ever-listens":         {runOf(t, 2, two), []func(*world){befalls(map[string]fate{"epoll": deaf, "go": deaf})}},
		"the-intervals-become-narrow":    {runOf(t, 21, alone, interim(0, 0), longer), []func(*world){func(w *world) { w.narrow = 20 }}},
		"narrow-without-a-lost-trial":    {runOf(t, 21, alone, interim(0, 0), longer), []func(*world){func(w *world) { w.narrow = 20 }, befalls(map[string]fate{"quick-004-go": lost})}},
		"the-intervals-stay-wide":        {runOf(t, 12, alone, interim(0, 0)), nil},
		"the-time-is-over":               {runOf(t, 2, two, short(40)), nil},
		"nobody-leads-for-two-hours":     {runOf(t, 2, two, short(110)), []func(*world){func(w *world) { w.away, w.disturbed = 30*time.Second, []int32{2} }}},
		"just-in-time":                   {runOf(t, 2, alone, short(57)), []func(*world){func(w *world) { w.disturbed = []int32{1} }}},
		"a-repeat-block-is-too-late":     {runOf(t, 2, two, short(110)), []func(*world){func(w *world) { w.disturbed = []int32{1} }, befalls(map[string]fate{"quick-005-go": neverStored, "quick-005-epoll": neverStored})}},
		"enough-blocks-are-left":         {runOf(t, 9, alone, short(140)), []func(*world){befalls(map[string]fate{"quick-002-go": lost, "quick-005-go": lostUnderLoad})}},
		"too-few-blocks-are-left":        {runOf(t, 8, alone, short(120)), []func(*world){befalls(map[string]fate{"quick-002-go": lost, "quick-005-go": lostUnderLoad})}},
		"no-time-for-a-repeat-block":     {runOf(t, 2, two, short(90)), []func(*world){func(w *world) { w.disturbed = []int32{1} }}},
		"profiles-follow-the-blocks":     {profiled(t, 2, two), nil},
		"profiles-follow-a-repeat":       {profiled(t, 2, alone), []func(*world){func(w *world) { w.disturbed = []int32{1} }}},
		"profiles-follow-an-early-end":   {profiled(t, 12, alone, interim(0, 0), longer), []func(*world){func(w *world) { w.narrow = 10 }}},
		"a-profile-fails":                {profiled(t, 2, two), []func(*world){befalls(map[string]fate{"quick-p00-go": exits})}},
		"a-profile-is-lost":              {profiled(t, 7, alone), []func(*world){befalls(map[string]fate{"quick-p00-go/1": lost, "quick-p01-go": lostUnderLoad})}},
		"a-failed-server-has-no-profile": {profiled(t, 2, two), []func(*world){befalls(map[string]fate{"epoll": wrong})}},
		"no-time-for-profiles":           {profiled(t, 2, alone, short(34)), nil},
		"the-time-is-over-in-a-profile":  {profiled(t, 2, alone, short(85)), nil},
	} {
		t.Run(file, func(t *testing.T) {
			tc.run.Now = noon
			w := newWorld(t, tc.run)
			for _, d := range tc.deltas {
				d(w)
			}
			w.play()
			golden(t, "stories/"+file+".txt", []byte(strings.Join(w.log, "\n")+"\n"))
		})
	}
}

func longer(r *conduct.Run) { r.Plan.TimeoutSeconds = 100_000 }

func short(seconds int32) func(*conduct.Run) {
	return func(r *conduct.Run) { r.Plan.TimeoutSeconds = seconds }
}

// destiny draws a run and its events from a seed. An attempt's fate depends on its name, not on its time.
func destiny(t *testing.T, seed uint64) *world {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	of := runOf
	if seed%3 == 0 {
		of = profiled
	}
	run := of(t, 1+random.Int32N(13), [][]string{{"go"}, {"go", "epoll"}, {"go", "epoll", "uring"}}[random.IntN(3)], longer)
	if random.IntN(2) == 0 {
		interim(0, 0)(&run)
	}
	run.Now = noon
	w := newWorld(t, run)
	w.narrow, w.away = []int32{0, 10}[random.IntN(2)], time.Duration(random.IntN(2000))*time.Second
	for block := range 2 * max(run.Plan.Blocks, 2) {
		if random.IntN(6) == 0 {
			w.disturbed = append(w.disturbed, block+1)
		}
	}
	ill := random.Float64() * 0.5
	fates := []fate{lost, lost, outwaited, lostUnderLoad, silent, neverStored, exitsUnderLoad, deaf, wrong, exits}
	w.fate = func(t conduct.Trial, attempt int32) fate {
		h := fnv.New64a()
		fmt.Fprintf(h, "%d %s %d", seed, t.Name, attempt)
		draw := rand.New(rand.NewPCG(h.Sum64(), 2))
		if draw.Float64() > ill {
			return well
		}
		return fates[draw.IntN(len(fates))]
	}
	return w
}

const seeds = 120

func TestEveryRunEndsWithAReasonWhateverHappensToIt(t *testing.T) {
	ends := map[string]int{}
	for seed := range uint64(seeds) {
		w := destiny(t, seed)
		w.random = rand.New(rand.NewPCG(seed, 3))
		if seed%4 == 0 {
			w.run.Plan.TimeoutSeconds = 30 + w.random.Int32N(3000)
		}
		w.play()
		ends[w.run.Outcome(w.end, w.verdict).Reason]++
	}
	for _, reason := range []string{v1alpha1.ReasonDone, v1alpha1.ReasonTrialsFailed, v1alpha1.ReasonTimedOut} {
		if ends[reason] < seeds/50 {
			t.Errorf("of %d runs these ended with %s: %d", seeds, reason, ends[reason])
		}
	}
}

// summary is a run's result without instants. It omits trials after an early end: if their implementation failed for
// good, they may be given up before or after the deciding analysis.
func (w *world) summary() []string {
	o := w.run.Outcome(w.end, w.verdict)
	lines := []string{fmt.Sprint(o.State, o.Reason, w.run.Disturbed(), w.run.Interim, w.run.Scan)}
	for _, t := range w.run.Trials {
		if last := w.run.Interim.Stopped; last == 0 || t.Block <= last {
			lines = append(lines, fmt.Sprintf("%s block %d: %s %s", t.Name, t.Block, t.Reason, t.Message))
		}
	}
	return lines
}

func TestTheSameFatesEndTheSameInWhateverOrderTheyAreSeen(t *testing.T) {
	for seed := range uint64(seeds / 3) {
		var first []string
		for schedule := range uint64(3) {
			w := destiny(t, seed)
			w.random = rand.New(rand.NewPCG(seed, 100+schedule))
			w.play()
			if first == nil {
				first = w.summary()
			}
			if diff := cmp.Diff(first, w.summary()); diff != "" {
				t.Fatalf("fates %d in order %d (-first +now):\n%s", seed, schedule, diff)
			}
		}
	}
}
