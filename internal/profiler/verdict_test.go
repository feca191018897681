package profiler_test

import (
	"slices"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/profiler/memcheck"
)

func quiet() profiler.Evidence {
	return profiler.Evidence{Result: memcheck.Result{Finished: true}, Heap: memcheck.Heap{Allocations: 10, Frees: 10}, Requests: 100}
}

func TestWhatMemchecksFindingsComeTo(t *testing.T) {
	lost := []memcheck.Leak{{Kind: memcheck.DefinitelyLost, Bytes: 10, Blocks: 1}}
	uninit := []memcheck.Error{{Kind: "UninitCondition"}}
	for name, tc := range map[string]struct {
		change        func(*profiler.Evidence)
		errors, leaks profiler.Answer
		code          profiler.Code
	}{
		"nothing in a program that ended well": {func(*profiler.Evidence) {}, profiler.Clean, profiler.Clean, ""},
		"a leak":                               {func(e *profiler.Evidence) { e.Result.Leaks = lost }, profiler.Clean, profiler.Found, ""},
		"an error":                             {func(e *profiler.Evidence) { e.Result.Errors = uninit }, profiler.Found, profiler.Clean, ""},
		"what is still reachable is no leak": {func(e *profiler.Evidence) {
			e.Result.Leaks = []memcheck.Leak{{Kind: memcheck.StillReachable, Bytes: 9, Blocks: 1}}
		}, profiler.Clean, profiler.Clean, ""},
		"what may be lost": {func(e *profiler.Evidence) {
			e.Result.Leaks = []memcheck.Leak{{Kind: memcheck.PossiblyLost, Bytes: 9, Blocks: 1}}
		}, profiler.Clean, profiler.Inconclusive, profiler.PossiblyLost},
		"no load":                               {func(e *profiler.Evidence) { e.Requests = 0 }, profiler.Inconclusive, profiler.Inconclusive, profiler.NoLoad},
		"a leak without load is one":            {func(e *profiler.Evidence) { e.Requests, e.Result.Leaks = 0, lost }, profiler.Inconclusive, profiler.Found, profiler.NoLoad},
		"an allocator that nobody saw":          {func(e *profiler.Evidence) { e.Heap = memcheck.Heap{} }, profiler.Inconclusive, profiler.Inconclusive, profiler.AllocatorUnseen},
		"a static program":                      {func(e *profiler.Evidence) { e.Heap, e.Program.Static = memcheck.Heap{}, true }, profiler.Inconclusive, profiler.Inconclusive, profiler.AllocatorUnseen},
		"a static program whose heap was seen":  {func(e *profiler.Evidence) { e.Program.Static = true }, profiler.Clean, profiler.Clean, ""},
		"errors in a static C library":          {func(e *profiler.Evidence) { e.Program.Static, e.Result.Errors = true, uninit }, profiler.Inconclusive, profiler.Clean, profiler.StaticLibrary},
		"an allocator of its own":               {func(e *profiler.Evidence) { e.Program.Allocator = "mimalloc" }, profiler.Inconclusive, profiler.Inconclusive, profiler.AllocatorUnseen},
		"Go's runtime":                          {func(e *profiler.Evidence) { e.Program.Go = true }, profiler.Inconclusive, profiler.Inconclusive, profiler.AllocatorUnseen},
		"errors in Go's runtime":                {func(e *profiler.Evidence) { e.Program.Go, e.Result.Errors = true, uninit }, profiler.Inconclusive, profiler.Inconclusive, profiler.GoRuntime},
		"a signal":                              {func(e *profiler.Evidence) { e.Result.Signal = "SIGTERM" }, profiler.Clean, profiler.Inconclusive, profiler.EndedBySignal},
		"a signal that memcheck did not see":    {func(e *profiler.Evidence) { e.Exit.Signal = "SIGKILL" }, profiler.Clean, profiler.Inconclusive, profiler.EndedBySignal},
		"a leak in a program that a signal hit": {func(e *profiler.Evidence) { e.Result.Signal, e.Result.Leaks = "SIGTERM", lost }, profiler.Clean, profiler.Found, profiler.EndedBySignal},
		"an exit code":                          {func(e *profiler.Evidence) { e.Exit.Code = 3 }, profiler.Clean, profiler.Inconclusive, profiler.EndedBadly},
		"half a file":                           {func(e *profiler.Evidence) { e.Result.Finished = false }, profiler.Inconclusive, profiler.Inconclusive, profiler.Unfinished},
		"an error in half a file":               {func(e *profiler.Evidence) { e.Result.Finished, e.Result.Errors = false, uninit }, profiler.Found, profiler.Inconclusive, profiler.Unfinished},
		"buffers that the kernel writes":        {func(e *profiler.Evidence) { e.Program.IOUring, e.Result.Errors = true, uninit }, profiler.Inconclusive, profiler.Clean, profiler.IOUring},
		"io_uring and another error": {func(e *profiler.Evidence) {
			e.Program.IOUring, e.Result.Errors = true, []memcheck.Error{{Kind: "InvalidWrite"}}
		}, profiler.Found, profiler.Clean, ""},
		"io_uring and no error": {func(e *profiler.Evidence) { e.Program.IOUring = true }, profiler.Clean, profiler.Clean, ""},
		"stacks that are switched": {func(e *profiler.Evidence) {
			e.Messages, e.Result.Errors = profiler.Messages{StackSwitches: 3, MaxStackFrame: 9}, uninit
		}, profiler.Inconclusive, profiler.Clean, profiler.StackSwitches},
		"an unknown instruction":        {func(e *profiler.Evidence) { e.Messages.UnknownInstruction = "0x10" }, profiler.Inconclusive, profiler.Inconclusive, profiler.UnknownInstruction},
		"a loader without symbols":      {func(e *profiler.Evidence) { e.Messages.MissingSymbols = "ld.so" }, profiler.Inconclusive, profiler.Inconclusive, profiler.MissingSymbols},
		"a crash of the tool":           {func(e *profiler.Evidence) { e.Messages.Crash = "Assertion" }, profiler.Inconclusive, profiler.Inconclusive, profiler.ToolCrashed},
		"a thousand errors":             {func(e *profiler.Evidence) { e.Messages.TooManyErrors, e.Result.Errors = true, uninit }, profiler.Found, profiler.Clean, profiler.TooManyErrors},
		"processes that were split off": {func(e *profiler.Evidence) { e.Children = 2 }, profiler.Inconclusive, profiler.Inconclusive, profiler.ChildrenUnseen},
	} {
		t.Run(name, func(t *testing.T) {
			e := quiet()
			tc.change(&e)
			v := profiler.Judge(e)
			if v.Errors.Answer != tc.errors || v.Leaks.Answer != tc.leaks {
				t.Errorf("errors %+v, want %s; leaks %+v, want %s", v.Errors, tc.errors, v.Leaks, tc.leaks)
			}
			reasons := slices.Concat(v.Errors.Reasons, v.Leaks.Reasons)
			if has := slices.ContainsFunc(reasons, func(r profiler.Remark) bool { return r.Code == tc.code }); has != (tc.code != "") {
				t.Errorf("reasons %+v, want %q among them", reasons, tc.code)
			}
			for _, r := range reasons {
				checkSentence(t, r)
			}
		})
	}
}

// checkSentence requires a complete sentence without unfilled values.
func checkSentence(t *testing.T, r profiler.Remark) {
	t.Helper()
	if r.Code == "" || len(r.Sentence) < 20 || strings.Contains(r.Sentence, "%!") {
		t.Errorf("remark %+v", r)
	}
}

func TestEveryToolHasItsLimits(t *testing.T) {
	for _, tool := range profiler.Tools {
		limits := profiler.Limits(tool)
		if len(limits) == 0 {
			t.Errorf("%s sees everything", tool)
		}
		for _, l := range limits {
			checkSentence(t, l)
		}
	}
	if profiler.Limits("gdb") != nil {
		t.Error("an unknown tool has limits")
	}
}

func TestATool(t *testing.T) {
	for name, tc := range map[string]struct {
		tool    profiler.Tool
		program profiler.Program
		want    profiler.Tool
	}{
		"sees an ordinary program":           {profiler.Massif, profiler.Program{}, profiler.Massif},
		"of a static program measures pages": {profiler.Massif, profiler.Program{Static: true}, profiler.MassifPages},
		"of an allocator, too":               {profiler.MassifHeap, profiler.Program{Allocator: "jemalloc"}, profiler.MassifPages},
		"counts Go without calls":            {profiler.Callgrind, profiler.Program{Go: true}, profiler.Cachegrind},
		"counts a static program with calls": {profiler.Callgrind, profiler.Program{Static: true}, profiler.Callgrind},
		"has no other that finds errors":     {profiler.Memcheck, profiler.Program{Go: true}, profiler.Memcheck},
	} {
		t.Run(name, func(t *testing.T) {
			got, why := profiler.Suited(tc.tool, tc.program)
			if got != tc.want || (len(why) > 0) != (tc.want != tc.tool) {
				t.Errorf("%s because of %+v, want %s", got, why, tc.want)
			}
			for _, r := range why {
				checkSentence(t, r)
			}
		})
	}
}

func TestWhatIsTriedAfterAFailure(t *testing.T) {
	for tool, want := range map[profiler.Tool]profiler.Tool{profiler.Callgrind: profiler.Cachegrind, profiler.Massif: profiler.MassifHeap, profiler.Memcheck: "", profiler.Cachegrind: ""} {
		if got, found := profiler.Instead(tool); got != want || found != (want != "") {
			t.Errorf("after %s: %q, %v", tool, got, found)
		}
	}
}
