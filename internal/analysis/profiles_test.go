package analysis_test

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/profiler/callgrind"
	"loadstone.dev/loadstone/internal/profiler/memcheck"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

// startCost is the cost of start and end of every simulated server.
const startCost = 1_000_000

// launch answered all requests correctly, at this cost each.
func launch(tool profiler.Tool, requests, each int64) record.Launch {
	l := record.Launch{Asked: requests, FirstAnswerMillis: 40}
	// The request that detects whether the server answers is counted too.
	l.Result = profiler.Result{Run: profiler.Run{Tool: tool, Requests: requests + 1}}
	if cost := startCost + (requests+1)*each; tool == profiler.Strace {
		l.Calls = &profiler.SystemCalls{Total: profiler.Call{Count: cost}}
	} else {
		l.Costs = &profiler.Costs{Events: []string{"Ir"}, Total: callgrind.Cost{cost}}
	}
	return l
}

// counted is a tool's findings: one cost per request for each repeat.
func counted(tool profiler.Tool, each ...int64) *record.Profiled {
	p := &record.Profiled{Tool: tool}
	for _, cost := range each {
		p.Launches = append(p.Launches, launch(tool, 10_000, cost), launch(tool, 20_000, cost))
	}
	return p
}

// profiled is a short run of go (the baseline), go-slow and epoll, profiled after its blocks. Without findings an
// implementation has no trial.
func profiled(tool profiler.Tool, found map[string]*record.Profiled) record.RunData {
	d := recordtest.Run(recordtest.Duel(2))
	m := &d.Manifest
	m.Plan.Profiles = []record.Profile{{Name: "costs", Tool: tool, Request: record.Request{Path: "/"}, Requests: 10_000, Connections: 1, Repeats: 3, LimitSeconds: 300}}
	for i, own := range m.Plan.Implementations {
		line := record.PlannedTrial{
			Name: fmt.Sprintf("duel-p%02d-%s", i, own.Name), Index: int32(100 + i), Type: record.ProfileType, Servers: []string{own.Name}, Item: "costs",
		}
		m.Plan.Following = append(m.Plan.Following, line)
		if found[own.Name] == nil {
			continue
		}
		m.Following = append(m.Following, record.TrialEntry{PlannedTrial: line, Manifest: &record.Artifact{Name: "manifest.json", Key: line.Name}})
		d.Following = append(d.Following, record.TrialData{
			Manifest: record.TrialManifest{Schema: record.TrialManifestSchema, PlannedTrial: line, Profiling: &m.Plan.Profiles[0]},
			Servers:  []record.ObserverResult{{Profiled: found[own.Name]}},
		})
	}
	return d
}

func foundOf(t *testing.T, d record.RunData, implementation string) analysis.Profiled {
	t.Helper()
	table := analyse(t, d)
	for _, p := range table.Profiles {
		for _, f := range p.Found {
			if f.Implementation == implementation {
				return f
			}
		}
	}
	t.Fatalf("nothing of %s in %+v", implementation, table.Profiles)
	return analysis.Profiled{}
}

func spoilt(p *record.Profiled, launch int, change func(*record.Launch)) *record.Profiled {
	change(&p.Launches[launch])
	return p
}

func TestTheCostOfARequestIsCountedOnceForEachPairOfSoundLaunches(t *testing.T) {
	wrong := func(l *record.Launch) { l.Wrong = 1 }
	three := func() *record.Profiled { return counted(profiler.Callgrind, 500, 510, 520) }
	cut := func(launches int) *record.Profiled {
		p := three()
		p.Launches = p.Launches[:launches]
		return p
	}
	for name, tc := range map[string]struct {
		found *record.Profiled
		want  *analysis.Counted
	}{
		"all launches are sound": {three(), &analysis.Counted{N: 3, Median: 510, Min: 500, Max: 520}},
		"system calls":           {counted(profiler.Strace, 4, 6), &analysis.Counted{N: 2, Median: 5, Min: 4, Max: 6}},
		"the one with fewer requests answered wrongly": {spoilt(three(), 0, wrong), &analysis.Counted{N: 2, Median: 515, Min: 510, Max: 520}},
		"the one with more requests answered wrongly":  {spoilt(three(), 3, wrong), &analysis.Counted{N: 2, Median: 510, Min: 500, Max: 520}},
		"one did not end when it was told to":          {spoilt(three(), 5, func(l *record.Launch) { l.Killed = true }), &analysis.Counted{N: 2, Median: 505, Min: 500, Max: 510}},
		"one was never answered":                       {spoilt(three(), 4, func(l *record.Launch) { l.Asked, l.Requests = 0, 0 }), &analysis.Counted{N: 2, Median: 505, Min: 500, Max: 510}},
		"one was not read to its end": {
			spoilt(three(), 1, func(l *record.Launch) { l.Unread = []profiler.Unread{{File: "callgrind.7.out", Why: "it ends early"}} }),
			&analysis.Counted{N: 2, Median: 515, Min: 510, Max: 520},
		},
		"one has cost less than with fewer requests":    {spoilt(three(), 1, func(l *record.Launch) { l.Costs.Total = callgrind.Cost{1} }), &analysis.Counted{N: 2, Median: 515, Min: 510, Max: 520}},
		"the limit has cut off the last half of a pair": {cut(5), &analysis.Counted{N: 2, Median: 505, Min: 500, Max: 510}},
		"the limit has left half a pair":                {cut(1), nil},
		"no launch was made":                            {cut(0), nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := foundOf(t, profiled(tc.found.Tool, map[string]*record.Profiled{"go": tc.found}), "go")
			if diff := cmp.Diff(tc.want, f.PerRequest); diff != "" {
				t.Errorf("the cost of a request (-want +got):\n%s", diff)
			}
			if f.Launches != len(tc.found.Launches) {
				t.Errorf("%d launches, want all %d: those that do not count were made, too", f.Launches, len(tc.found.Launches))
			}
		})
	}
}

func TestTheSpreadOfCountsIsAShareOfTheirMedian(t *testing.T) {
	f := foundOf(t, profiled(profiler.Callgrind, map[string]*record.Profiled{"go": counted(profiler.Callgrind, 90, 100, 120)}), "go")
	if got := f.PerRequest.Spread(); math.Abs(got-0.3) > 1e-12 {
		t.Errorf("the spread is %v, want 0.3", got)
	}
}

func TestCountsAreApartWhereEveryOneOfOneIsAboveEveryOneOfTheOther(t *testing.T) {
	for name, tc := range map[string]struct {
		base, own []int64
		want      analysis.CountedRatio
	}{
		"every count is higher":                     {[]int64{100, 110, 104}, []int64{200, 220, 208}, analysis.CountedRatio{Ratio: 2, Low: 200. / 110, High: 2.2, Apart: true}},
		"every count is lower":                      {[]int64{200, 220, 208}, []int64{100, 110, 104}, analysis.CountedRatio{Ratio: 0.5, Low: 100. / 220, High: 0.55, Apart: true}},
		"one count is not":                          {[]int64{100, 110, 104}, []int64{108, 120, 130}, analysis.CountedRatio{Ratio: 120. / 104, Low: 108. / 110, High: 1.3}},
		"they meet":                                 {[]int64{100, 110, 104}, []int64{110, 120, 130}, analysis.CountedRatio{Ratio: 120. / 104, Low: 1, High: 1.3}},
		"they are the same":                         {[]int64{100, 100, 100}, []int64{100, 100, 100}, analysis.CountedRatio{Ratio: 1, Low: 1, High: 1}},
		"the baseline was counted once":             {[]int64{100}, []int64{200, 220, 208}, analysis.CountedRatio{Ratio: 2.08, Low: 2, High: 2.2}},
		"the other was counted once":                {[]int64{100, 110, 104}, []int64{208}, analysis.CountedRatio{Ratio: 2, Low: 208. / 110, High: 2.08}},
		"both were counted once, and are different": {[]int64{100}, []int64{200}, analysis.CountedRatio{Ratio: 2, Low: 2, High: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			d := profiled(profiler.Callgrind, map[string]*record.Profiled{"go": counted(profiler.Callgrind, tc.base...), "go-slow": counted(profiler.Callgrind, tc.own...)})
			got := foundOf(t, d, "go-slow").Versus
			if got == nil {
				t.Fatal("nothing is compared")
			}
			for what, pair := range map[string][2]float64{"ratio": {got.Ratio, tc.want.Ratio}, "low": {got.Low, tc.want.Low}, "high": {got.High, tc.want.High}} {
				if math.Abs(pair[0]-pair[1]) > 1e-9 {
					t.Errorf("%s is %v, want %v", what, pair[0], pair[1])
				}
			}
			if got.Apart != tc.want.Apart {
				t.Errorf("apart: %v", got.Apart)
			}
			if base := foundOf(t, d, "go"); base.Versus != nil {
				t.Errorf("the baseline is compared with itself: %+v", base.Versus)
			}
		})
	}
}

func TestOnlyWhatCountsTheSameIsCompared(t *testing.T) {
	const each = 100
	none := &record.Profiled{Tool: profiler.Callgrind}
	for name, tc := range map[string]struct {
		base, own *record.Profiled
		want      bool
	}{
		"instructions of the same tool":            {counted(profiler.Callgrind, each), counted(profiler.Callgrind, each), true},
		"instructions of cachegrind and callgrind": {counted(profiler.Cachegrind, each), counted(profiler.Callgrind, each), true},
		"system calls":                              {counted(profiler.Strace, each), counted(profiler.Strace, each), true},
		"instructions and system calls":             {counted(profiler.Callgrind, each), counted(profiler.Strace, each), false},
		"nothing was counted of the baseline":       {none, counted(profiler.Callgrind, each), false},
		"nothing was counted of the other":          {counted(profiler.Callgrind, each), none, false},
		"the baseline has left nothing":             {nil, counted(profiler.Callgrind, each), false},
		"memcheck counts nothing that is a cost":    {&record.Profiled{Tool: profiler.Memcheck}, &record.Profiled{Tool: profiler.Memcheck}, false},
		"the baseline's only pair is not sound":     {spoilt(counted(profiler.Callgrind, each), 1, func(l *record.Launch) { l.Wrong = 3 }), counted(profiler.Callgrind, each), false},
		"the other's only pair did not end in time": {counted(profiler.Callgrind, each), spoilt(counted(profiler.Callgrind, each), 0, func(l *record.Launch) { l.Killed = true }), false},
	} {
		t.Run(name, func(t *testing.T) {
			d := profiled(profiler.Callgrind, map[string]*record.Profiled{"go": tc.base, "go-slow": tc.own})
			if got := foundOf(t, d, "go-slow").Versus; (got != nil) != tc.want {
				t.Errorf("compared: %+v", got)
			}
		})
	}
}

func TestAProfileThatWasNotMadeSaysWhy(t *testing.T) {
	entry := func(reason, message string) func(*record.RunData) {
		return func(d *record.RunData) {
			line := d.Manifest.Plan.Following[1]
			d.Manifest.Following = append(d.Manifest.Following, record.TrialEntry{PlannedTrial: line, Reason: reason, Message: message})
		}
	}
	for name, tc := range map[string]struct {
		change func(*record.RunData)
		want   string
	}{
		"the run ended before it": {func(*record.RunData) {}, "the run ended before it"},
		"its trial failed":        {entry(v1alpha1.ReasonProgramFailed, "implementations[go-slow] exited"), "implementations[go-slow] exited"},
		"its trial says no more":  {entry(v1alpha1.ReasonPodLost, ""), v1alpha1.ReasonPodLost},
	} {
		t.Run(name, func(t *testing.T) {
			d := profiled(profiler.Callgrind, map[string]*record.Profiled{"go": counted(profiler.Callgrind, 100, 100)})
			tc.change(&d)
			f := foundOf(t, d, "go-slow")
			want := analysis.Profiled{Implementation: "go-slow", Trial: "duel-p01-go-slow", Missing: tc.want}
			if diff := cmp.Diff(want, f); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if base := foundOf(t, d, "go"); base.Missing != "" || base.PerRequest == nil {
				t.Errorf("of the other is found %+v", base)
			}
		})
	}
}

func checked(errors, leaks profiler.Answer) record.Launch {
	l := record.Launch{Asked: 100}
	l.Result = profiler.Result{Run: profiler.Run{Tool: profiler.Memcheck, Requests: 101}, Memcheck: &profiler.Memory{Verdicts: profiler.Verdicts{
		Errors: profiler.Verdict{Answer: errors}, Leaks: profiler.Verdict{Answer: leaks},
	}}}
	if errors == profiler.Found {
		l.Memcheck.Errors = []memcheck.Error{{Kind: "InvalidRead"}}
	}
	return l
}

func TestTheLaunchWithTheGravestFindingIsShown(t *testing.T) {
	clean, unsure := checked(profiler.Clean, profiler.Clean), checked(profiler.Inconclusive, profiler.Clean)
	leaks, errs := checked(profiler.Clean, profiler.Found), checked(profiler.Found, profiler.Clean)
	for name, tc := range map[string]struct {
		launches []record.Launch
		want     record.Launch
	}{
		"one launch":                                    {[]record.Launch{clean}, clean},
		"the first finds a leak":                        {[]record.Launch{leaks, clean, clean}, leaks},
		"the last finds an error":                       {[]record.Launch{clean, clean, errs}, errs},
		"the one in the middle finds an error":          {[]record.Launch{clean, errs, unsure}, errs},
		"one is inconclusive":                           {[]record.Launch{unsure, clean}, unsure},
		"a finding is graver than what nobody can tell": {[]record.Launch{leaks, unsure}, leaks},
	} {
		t.Run(name, func(t *testing.T) {
			found := &record.Profiled{Tool: profiler.Memcheck, Launches: tc.launches}
			f := foundOf(t, profiled(profiler.Memcheck, map[string]*record.Profiled{"go": found}), "go")
			if diff := cmp.Diff(tc.want.Memcheck.Verdicts, f.Result.Memcheck.Verdicts); diff != "" {
				t.Errorf("shown (-want +got):\n%s", diff)
			}
			if len(f.Result.Memcheck.Errors) != len(tc.want.Memcheck.Errors) || f.PerRequest != nil {
				t.Errorf("%d errors are shown, and a request costs %+v", len(f.Result.Memcheck.Errors), f.PerRequest)
			}
		})
	}
}

// Only the last launch keeps its most costly functions.
func TestOfAToolThatCountsTheLastLaunchIsShown(t *testing.T) {
	f := foundOf(t, profiled(profiler.Callgrind, map[string]*record.Profiled{"go": counted(profiler.Callgrind, 700, 600, 500)}), "go")
	if want := int64(startCost + 20_001*500); f.Result.Cost() != want {
		t.Errorf("the launch that is shown costs %d, want %d", f.Result.Cost(), want)
	}
}

func TestWhatWentWrongInAnyLaunchIsTold(t *testing.T) {
	found := counted(profiler.Callgrind, 100, 100)
	found.Cut, found.Remarks = "4 of 6 launches were made", []profiler.Remark{{Code: profiler.ToolCrashed, Sentence: "callgrind failed"}}
	spoilt(found, 0, func(l *record.Launch) {
		l.Wrong, l.Example, l.FirstAnswerMillis = 2, "GET / answered 404 instead of 200", 900
	})
	spoilt(found, 1, func(l *record.Launch) { l.Killed, l.Said = true, "stuck" })
	spoilt(found, 2, func(l *record.Launch) {
		l.Wrong, l.Example, l.Said, l.Killed = 1, "GET / was not answered", "very stuck", true
	})
	spoilt(found, 3, func(l *record.Launch) {
		l.Limits = []profiler.Remark{{Code: profiler.KernelUnseen, Sentence: "no kernel"}}
	})
	f := foundOf(t, profiled(profiler.Callgrind, map[string]*record.Profiled{"go": found}), "go")
	if f.Asked != 60_000 || f.Wrong != 3 || f.Launches != 4 || f.Unended != 2 || f.FirstAnswerMillis != 900 {
		t.Errorf("%d of %d requests are wrong in %d launches, of which %d did not end; the first answer took %d ms", f.Wrong, f.Asked, f.Launches, f.Unended, f.FirstAnswerMillis)
	}
	if f.Example != "GET / answered 404 instead of 200" || f.Said != "very stuck" || f.Cut != found.Cut {
		t.Errorf("example %q, said %q, cut %q", f.Example, f.Said, f.Cut)
	}
	var codes []profiler.Code
	for _, r := range f.Remarks {
		codes = append(codes, r.Code)
	}
	if diff := cmp.Diff([]profiler.Code{profiler.ToolCrashed, profiler.KernelUnseen}, codes); diff != "" || len(found.Remarks) != 1 {
		t.Errorf("remarks (-want +got):\n%s", diff)
	}
}

// Profiles belong to no block and no verdict.
func TestProfilesChangeNothingElse(t *testing.T) {
	without := analyse(t, recordtest.Run(recordtest.Duel(2)))
	with := analyse(t, profiled(profiler.Callgrind, map[string]*record.Profiled{"go": counted(profiler.Callgrind, 1, 2)}))
	if len(with.Profiles) != 1 || with.Profiles[0].Name != "costs" || len(with.Profiles[0].Found) != 3 || len(without.Profiles) != 0 {
		t.Errorf("profiles %+v, and without them %+v", with.Profiles, without.Profiles)
	}
	if diff := cmp.Diff(without.Coverage, with.Coverage); diff != "" {
		t.Errorf("coverage (-without +with):\n%s", diff)
	}
	if !reflect.DeepEqual(without.Comparisons, with.Comparisons) {
		t.Errorf("comparisons: %+v, and with profiles %+v", without.Comparisons, with.Comparisons)
	}
	if diff := cmp.Diff(without.Headline(), with.Headline()); diff != "" {
		t.Errorf("headline (-without +with):\n%s", diff)
	}
}
