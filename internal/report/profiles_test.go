package report_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/profiler/callgrind"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

// recorded is a launch with recorded files, by the profiler's names.
func recorded(tool profiler.Tool, requests int64, files map[string]string) record.Launch {
	return unanswered(tool, requests, 0, files)
}

func unanswered(tool profiler.Tool, requests, wrong int64, files map[string]string) record.Launch {
	folder := fstest.MapFS{}
	for name, file := range files {
		text, err := os.ReadFile("../profiler/" + file)
		if err != nil {
			panic(err)
		}
		folder[name] = &fstest.MapFile{Data: text}
	}
	l := record.Launch{Asked: requests, Wrong: wrong, FirstAnswerMillis: 1340}
	l.Result = profiler.Read(folder, profiler.Run{Tool: tool, Requests: requests - wrong + 1, Unanswered: wrong})
	return l
}

// repeated are launches of a counting tool: those with more requests as recorded, those with a hundred fewer at a
// cost of each.
func repeated(tool profiler.Tool, files map[string]string, each ...int64) *record.Profiled {
	p := &record.Profiled{Tool: tool}
	for _, cost := range each {
		fewer, more := recorded(tool, 100, files), recorded(tool, 200, files)
		if total := more.Cost() - 100*cost; fewer.Costs != nil {
			fewer.Costs.Total = callgrind.Cost{total}
		} else {
			fewer.Calls.Total.Count = total
		}
		p.Launches = append(p.Launches, fewer, more)
	}
	if last := p.Launches[len(p.Launches)-1]; tool == profiler.Callgrind {
		graph := callgrind.OfCalls(last.Profiles[0], 0)
		p.Flame = &graph
	}
	return p
}

// counting are perf-stat launches with a recorded file, and more of each counter with each repeat.
func counting(file string) *record.Profiled {
	p := &record.Profiled{Tool: profiler.PerfStat}
	for k := range 3 {
		for _, requests := range []int64{100, 200} {
			l := recorded(profiler.PerfStat, requests, map[string]string{"perf-stat.csv": "perfstat/testdata/" + file})
			for i, c := range l.Counters {
				if c.Value != nil {
					l.Counters[i].Value = new(*c.Value * float64(requests+int64(k)) / 200)
				}
			}
			p.Launches = append(p.Launches, l)
		}
	}
	return p
}

func checkedMemory(twin string, wrong int64) record.Launch {
	return unanswered(profiler.Memcheck, 100, wrong, map[string]string{
		"memcheck.7.xml": "memcheck/testdata/" + twin + ".xml", "heap.7.xtree": "memcheck/testdata/" + twin + ".xtree", "valgrind.7.log": "testdata/messages/planted.log",
	})
}

// profiledRun is a short run with every kind of profile, good and bad.
func profiledRun() record.RunData {
	d := recordtest.Run(recordtest.Duel(3))
	costs := map[string]string{"callgrind.7.out": "callgrind/testdata/planted.out"}
	few := map[string]string{"callgrind.7.out": "callgrind/testdata/clean.out"}
	fewCalls, calls := map[string]string{"strace.txt": "testdata/strace/clean.txt"}, map[string]string{"strace.txt": "testdata/strace/planted.txt"}
	heap := recorded(profiler.Massif, 100, map[string]string{"massif.7.out": "massif/testdata/planted.out"})
	stuck := checkedMemory("clean", 3)
	stuck.Killed, stuck.Said, stuck.Example = true, "cannot <stop> & go", "GET / answered 503 instead of 200"
	starved := record.Launch{Asked: 40, Wrong: 1, FirstAnswerMillis: 900, OutOfMemory: true, Example: "GET / got no answer: connection reset"}
	starved.Result = profiler.Read(fstest.MapFS{}, profiler.Run{Tool: profiler.Massif, Requests: 40, Exit: profiler.Exit{Code: 137, Signal: "SIGKILL"}})
	ended := record.Launch{Asked: 5, Wrong: 1, FirstAnswerMillis: 900, Example: "GET / got no answer: connection refused", Said: "no configuration"}
	ended.Result = profiler.Read(fstest.MapFS{}, profiler.Run{Tool: profiler.Massif, Requests: 5, Exit: profiler.Exit{Code: 3}})
	cachegrind := repeated(profiler.Cachegrind, map[string]string{"cachegrind.7.out": "callgrind/testdata/cachegrind.out"}, 3_000)
	_, cachegrind.Remarks = profiler.Suited(profiler.Callgrind, profiler.Program{Go: true})
	cachegrind.Cut = "2 of 6 launches were made within limitSeconds 300: raise it, or lower requests"
	blind, _ := profiler.Blind(profiler.Memcheck, profiler.Program{Go: true})
	profile(&d, "instructions", profiler.Callgrind, repeated(profiler.Callgrind, few, 2_590, 2_600, 2_591), repeated(profiler.Callgrind, costs, 525_000, 525_300, 525_100), cachegrind)
	profile(&d, "calls", profiler.Strace, repeated(profiler.Strace, fewCalls, 1, 1, 1), repeated(profiler.Strace, calls, 2, 1, 2), nil)
	profile(&d, "memory", profiler.Memcheck, &record.Profiled{Tool: profiler.Memcheck, Cut: blind.Sentence}, &record.Profiled{Tool: profiler.Memcheck, Launches: []record.Launch{checkedMemory("planted", 0)}},
		&record.Profiled{Tool: profiler.Memcheck, Launches: []record.Launch{stuck}})
	profile(&d, "heap", profiler.Massif, &record.Profiled{Tool: profiler.Massif, Launches: []record.Launch{heap, starved}}, &record.Profiled{Tool: profiler.Massif, Launches: []record.Launch{ended}}, nil)
	last := &d.Manifest.Following[len(d.Manifest.Following)-1]
	last.Manifest, last.Reason, last.Message = nil, v1alpha1.ReasonProgramFailed, "implementations[epoll] exited (exit code 3, Error)"
	profile(&d, "counters", profiler.PerfStat, counting("counters.csv"), counting("counters.csv"), counting("refused.csv"))
	return d
}

// profile adds a profiler's results for go, go-slow and epoll; missing ones leave no result.
func profile(d *record.RunData, name string, tool profiler.Tool, found ...*record.Profiled) {
	m := &d.Manifest
	p := record.Profile{
		Name: name, Tool: tool, Requests: 100, Connections: 1, Repeats: 1, LimitSeconds: 300, Request: record.Request{Path: "/", Expect: record.Expect{Status: 200}},
	}
	if tool.Counts() {
		p.Repeats = 3
	}
	m.Plan.Profiles = append(m.Plan.Profiles, p)
	for i, own := range []string{"go", "go-slow", "epoll"} {
		n := len(m.Plan.Following)
		line := record.PlannedTrial{Name: fmt.Sprintf("duel-p%02d-%s", n, own), Index: int32(100 + n), Type: record.ProfileType, Servers: []string{own}, Item: name}
		m.Plan.Following = append(m.Plan.Following, line)
		entry := record.TrialEntry{PlannedTrial: line, Manifest: &record.Artifact{Name: "manifest.json", Key: "default/duel/" + line.Name + "/manifest.json"}}
		m.Following = append(m.Following, entry)
		if found[i] != nil {
			d.Following = append(d.Following, record.TrialData{
				Manifest: record.TrialManifest{Schema: record.TrialManifestSchema, PlannedTrial: line, Profiling: &p}, Servers: []record.ObserverResult{{Profiled: found[i]}},
			})
			continue
		}
		m.Following = m.Following[:len(m.Following)-1]
		m.Following = append(m.Following, record.TrialEntry{PlannedTrial: line, Reason: v1alpha1.ReasonPodLost, Message: "pod c was evicted"})
	}
}

func profilesSection(t *testing.T, d record.RunData) string {
	t.Helper()
	_, rest, found := strings.Cut(string(html(t, d)), `<section id="profiles">`)
	if !found {
		return ""
	}
	section, _, _ := strings.Cut(rest, "</section>")
	return section
}

func TestTheSectionOnProfilesTellsWhatWasFound(t *testing.T) {
	section := profilesSection(t, profiledRun())
	for what, words := range map[string][]string{
		"counts":              {"instructions (callgrind)", "calls (strace)", "all counts apart", "counts overlap", "counted once: no spread is known", "n = 3"},
		"a missing profile":   {"not made", "implementations[epoll] exited (exit code 3, Error)", "pod c was evicted"},
		"a cut":               {"2 of 6 launches were made within limitSeconds 300: raise it, or lower requests"},
		"a tool in place":     {"callgrind fails at the signals of Go&#39;s runtime"},
		"counters":            {"counters (perf-stat)", "not measured", "operation not permitted (EPERM)", "permission denied (EACCES)", "the value is an estimate"},
		"a starved server":    {"1 launch exceeded the memory of the pod, 608 MiB, of which 256 MiB are the implementation&#39;s own and the rest is for the profiler: raise spec.implementations[].memory"},
		"a blind tool":        {"memcheck was not run", "inconclusive"},
		"calls":               {"calls, with what they lead to", "main → answer", "callgrind_annotate", "cg_annotate"},
		"findings":            {"found", "definitely lost", "checksum"},
		"a server that hung":  {"1 launch did not end when it was told to, and was killed", "3 of 100 requests were not answered rightly: GET / answered 503 instead of 200", "cannot &lt;stop&gt; &amp; go"},
		"a server that ended": {"GET / got no answer: connection refused", "no configuration"},
	} {
		for _, w := range words {
			if !strings.Contains(section, w) {
				t.Errorf("%s: %q is not told", what, w)
			}
		}
	}
	if strings.Contains(section, "<stop>") {
		t.Error("a server's own words are part of the page")
	}
}

func TestAProfileSaysWhatItAsksAServerFor(t *testing.T) {
	d := profiledRun()
	d.Manifest.Plan.Profiles[0].Request.Method = "POST"
	path := d.Manifest.Plan.Profiles[0].Request.Path
	if section := profilesSection(t, d); !strings.Contains(section, "POST "+path+" over ") && !strings.Contains(section, "POST "+path+", ") {
		t.Errorf("a profile of POST %s is not called one", path)
	}
}

func TestARunWithoutProfilesHasNoSectionOfThem(t *testing.T) {
	if got := profilesSection(t, quick()); got != "" {
		t.Errorf("it has %q", got)
	}
}
