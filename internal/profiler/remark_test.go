package profiler_test

import (
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/profiler"
)

func TestOnlyAToolThatCouldFindNothingIsBlind(t *testing.T) {
	for name, tc := range map[string]struct {
		tool    profiler.Tool
		program profiler.Program
		want    bool
	}{
		"memcheck to Go":                   {profiler.Memcheck, profiler.Program{Go: true}, true},
		"memcheck not to a static program": {profiler.Memcheck, profiler.Program{Static: true}, false},
		"memcheck not to an allocator":     {profiler.Memcheck, profiler.Program{Allocator: "mimalloc"}, false},
		"strace not to Go":                 {profiler.Strace, profiler.Program{Go: true}, false},
		"cachegrind not to Go":             {profiler.Cachegrind, profiler.Program{Go: true}, false},
		"massif-pages not to Go":           {profiler.MassifPages, profiler.Program{Go: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			why, got := profiler.Blind(tc.tool, tc.program)
			if got != tc.want {
				t.Errorf("blind: %v, %+v", got, why)
			}
			if got {
				checkSentence(t, why)
			}
		})
	}
}

// A suited tool must not be blind, or it would never run.
func TestWhatTakesTheirPlaceSeesWhatTheyDoNot(t *testing.T) {
	for _, program := range []profiler.Program{{}, {Go: true}, {Static: true}, {Allocator: "own"}, {Go: true, Static: true}} {
		for _, tool := range profiler.Tools {
			suited, _ := profiler.Suited(tool, program)
			if _, blind := profiler.Blind(suited, program); blind && suited != tool {
				t.Errorf("of %+v, %s is taken for %s and sees nothing", program, suited, tool)
			}
			if again, why := profiler.Suited(suited, program); again != suited || len(why) != 0 {
				t.Errorf("of %+v, %s is taken for %s, and %s for that", program, suited, tool, again)
			}
		}
	}
}

func TestAToolThatCrashedHasAnotherInItsPlace(t *testing.T) {
	crash := []profiler.Messages{{}, {Crash: "Assertion 'x' failed"}}
	for name, tc := range map[string]struct {
		tool     profiler.Tool
		messages []profiler.Messages
		want     profiler.Tool
	}{
		"callgrind crashed":                    {profiler.Callgrind, crash, profiler.Cachegrind},
		"massif crashed":                       {profiler.Massif, crash, profiler.MassifHeap},
		"callgrind did not crash":              {profiler.Callgrind, []profiler.Messages{{Tool: "Callgrind"}}, ""},
		"callgrind said nothing":               {profiler.Callgrind, nil, ""},
		"callgrind met an unknown instruction": {profiler.Callgrind, []profiler.Messages{{UnknownInstruction: "0x10"}}, ""},
		"memcheck crashed, and has no other":   {profiler.Memcheck, crash, ""},
		"what was used instead crashed, too":   {profiler.Cachegrind, crash, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := profiler.Result{Run: profiler.Run{Tool: tc.tool}, Messages: tc.messages}
			got, why, found := r.Instead()
			if found != (tc.want != "") || found && got != tc.want || !found && got != tc.tool {
				t.Fatalf("%s, %v", got, found)
			}
			if found {
				checkSentence(t, why)
				for _, part := range []string{string(tc.tool), string(tc.want), "Assertion 'x' failed"} {
					if !strings.Contains(why.Sentence, part) {
						t.Errorf("%q does not name %s", why.Sentence, part)
					}
				}
			}
		})
	}
}

func TestARecordedCrashIsOneThatAnotherToolStandsInFor(t *testing.T) {
	r := profiler.Read(folder(t, map[string]string{"valgrind.7.log": "testdata/messages/crash.log"}), loaded(profiler.Callgrind))
	if got, why, found := r.Instead(); !found || got != profiler.Cachegrind {
		t.Errorf("%s, %+v, %v", got, why, found)
	}
	r = profiler.Read(folder(t, map[string]string{"valgrind.7.log": "testdata/messages/planted.log", "callgrind.7.out": "callgrind/testdata/planted.out"}), loaded(profiler.Callgrind))
	if got, _, found := r.Instead(); found {
		t.Errorf("%s stands in for a tool that did its work", got)
	}
}

func TestOnlyCountersCount(t *testing.T) {
	want := map[profiler.Tool]bool{profiler.Callgrind: true, profiler.Cachegrind: true, profiler.Strace: true, profiler.PerfStat: true}
	for _, tool := range profiler.Tools {
		if tool.Counts() != want[tool] {
			t.Errorf("%s counts: %v", tool, tool.Counts())
		}
	}
}

func TestAFindingRanksAboveDoubtAndDoubtAboveNothing(t *testing.T) {
	verdicts := func(errors, leaks profiler.Answer) profiler.Verdicts {
		return profiler.Verdicts{Errors: profiler.Verdict{Answer: errors}, Leaks: profiler.Verdict{Answer: leaks}}
	}
	clean, unsure, found := profiler.Clean, profiler.Inconclusive, profiler.Found
	for _, rising := range [][]profiler.Verdicts{
		{verdicts(clean, clean), verdicts(unsure, clean), verdicts(found, clean)},
		{verdicts(clean, clean), verdicts(clean, unsure), verdicts(clean, found)},
		{verdicts(clean, clean), verdicts(unsure, unsure), verdicts(unsure, found)},
		{verdicts(clean, clean), verdicts(unsure, unsure), verdicts(found, unsure)},
	} {
		for i := 1; i < len(rising); i++ {
			if rising[i].Rank() <= rising[i-1].Rank() {
				t.Errorf("%+v ranks %d, and %+v %d", rising[i], rising[i].Rank(), rising[i-1], rising[i-1].Rank())
			}
		}
	}
}

func TestEveryToolNeedsMoreMemoryThanTheProgram(t *testing.T) {
	const own = 256 << 20
	for _, tool := range profiler.Tools {
		if got := profiler.MemoryBytes(tool, own); got <= own || got >= profiler.MemoryBytes(tool, 2*own) {
			t.Errorf("%s needs %d bytes", tool, got)
		}
	}
}
