package profile_test

import (
	"slices"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/profile"
	"loadstone.dev/loadstone/internal/profile/memcheck"
	"loadstone.dev/loadstone/internal/profile/messages"
)

// quiet is a program that ended well under load, and in which nothing was found.
func quiet() profile.Evidence {
	return profile.Evidence{Result: memcheck.Result{Finished: true}, Heap: memcheck.Heap{Allocations: 10, Frees: 10}, Requests: 100}
}

func TestWhatMemchecksFindingsComeTo(t *testing.T) {
	lost := []memcheck.Leak{{Kind: memcheck.DefinitelyLost, Bytes: 10, Blocks: 1}}
	uninit := []memcheck.Error{{Kind: "UninitCondition"}}
	for name, tc := range map[string]struct {
		change        func(*profile.Evidence)
		errors, leaks profile.Answer
		code          profile.Code
	}{
		"nothing in a program that ended well": {func(*profile.Evidence) {}, profile.Clean, profile.Clean, ""},
		"a leak":                               {func(e *profile.Evidence) { e.Result.Leaks = lost }, profile.Clean, profile.Found, ""},
		"an error":                             {func(e *profile.Evidence) { e.Result.Errors = uninit }, profile.Found, profile.Clean, ""},
		"what is still reachable is no leak": {func(e *profile.Evidence) {
			e.Result.Leaks = []memcheck.Leak{{Kind: memcheck.StillReachable, Bytes: 9, Blocks: 1}}
		}, profile.Clean, profile.Clean, ""},
		"what may be lost": {func(e *profile.Evidence) {
			e.Result.Leaks = []memcheck.Leak{{Kind: memcheck.PossiblyLost, Bytes: 9, Blocks: 1}}
		}, profile.Clean, profile.Inconclusive, profile.PossiblyLost},
		"no load":                               {func(e *profile.Evidence) { e.Requests = 0 }, profile.Inconclusive, profile.Inconclusive, profile.NoLoad},
		"a leak without load is one":            {func(e *profile.Evidence) { e.Requests, e.Result.Leaks = 0, lost }, profile.Inconclusive, profile.Found, profile.NoLoad},
		"an allocator that nobody saw":          {func(e *profile.Evidence) { e.Heap = memcheck.Heap{} }, profile.Inconclusive, profile.Inconclusive, profile.AllocatorUnseen},
		"a static program":                      {func(e *profile.Evidence) { e.Heap, e.Program.Static = memcheck.Heap{}, true }, profile.Inconclusive, profile.Inconclusive, profile.AllocatorUnseen},
		"a static program whose heap was seen":  {func(e *profile.Evidence) { e.Program.Static = true }, profile.Clean, profile.Clean, ""},
		"errors in a static C library":          {func(e *profile.Evidence) { e.Program.Static, e.Result.Errors = true, uninit }, profile.Inconclusive, profile.Clean, profile.StaticLibrary},
		"an allocator of its own":               {func(e *profile.Evidence) { e.Program.Allocator = "mimalloc" }, profile.Inconclusive, profile.Inconclusive, profile.AllocatorUnseen},
		"Go's runtime":                          {func(e *profile.Evidence) { e.Program.Go = true }, profile.Inconclusive, profile.Inconclusive, profile.AllocatorUnseen},
		"errors in Go's runtime":                {func(e *profile.Evidence) { e.Program.Go, e.Result.Errors = true, uninit }, profile.Inconclusive, profile.Inconclusive, profile.GoRuntime},
		"a signal":                              {func(e *profile.Evidence) { e.Result.Signal = "SIGTERM" }, profile.Clean, profile.Inconclusive, profile.EndedBySignal},
		"a signal that memcheck did not see":    {func(e *profile.Evidence) { e.Exit.Signal = "SIGKILL" }, profile.Clean, profile.Inconclusive, profile.EndedBySignal},
		"a leak in a program that a signal hit": {func(e *profile.Evidence) { e.Result.Signal, e.Result.Leaks = "SIGTERM", lost }, profile.Clean, profile.Found, profile.EndedBySignal},
		"an exit code":                          {func(e *profile.Evidence) { e.Exit.Code = 3 }, profile.Clean, profile.Inconclusive, profile.EndedBadly},
		"half a file":                           {func(e *profile.Evidence) { e.Result.Finished = false }, profile.Inconclusive, profile.Inconclusive, profile.Unfinished},
		"an error in half a file":               {func(e *profile.Evidence) { e.Result.Finished, e.Result.Errors = false, uninit }, profile.Found, profile.Inconclusive, profile.Unfinished},
		"buffers that the kernel writes":        {func(e *profile.Evidence) { e.Program.IOUring, e.Result.Errors = true, uninit }, profile.Inconclusive, profile.Clean, profile.IOUring},
		"io_uring and another error": {func(e *profile.Evidence) {
			e.Program.IOUring, e.Result.Errors = true, []memcheck.Error{{Kind: "InvalidWrite"}}
		}, profile.Found, profile.Clean, ""},
		"io_uring and no error": {func(e *profile.Evidence) { e.Program.IOUring = true }, profile.Clean, profile.Clean, ""},
		"stacks that are switched": {func(e *profile.Evidence) {
			e.Messages, e.Result.Errors = messages.Messages{StackSwitches: 3, MaxStackFrame: 9}, uninit
		}, profile.Inconclusive, profile.Clean, profile.StackSwitches},
		"an unknown instruction":        {func(e *profile.Evidence) { e.Messages.UnknownInstruction = "0x10" }, profile.Inconclusive, profile.Inconclusive, profile.UnknownInstruction},
		"a loader without symbols":      {func(e *profile.Evidence) { e.Messages.MissingSymbols = "ld.so" }, profile.Inconclusive, profile.Inconclusive, profile.MissingSymbols},
		"a crash of the tool":           {func(e *profile.Evidence) { e.Messages.Crash = "Assertion" }, profile.Inconclusive, profile.Inconclusive, profile.ToolCrashed},
		"a thousand errors":             {func(e *profile.Evidence) { e.Messages.TooManyErrors, e.Result.Errors = true, uninit }, profile.Found, profile.Clean, profile.TooManyErrors},
		"processes that were split off": {func(e *profile.Evidence) { e.Children = 2 }, profile.Inconclusive, profile.Inconclusive, profile.ChildrenUnseen},
	} {
		t.Run(name, func(t *testing.T) {
			e := quiet()
			tc.change(&e)
			v := profile.Judge(e)
			if v.Errors.Answer != tc.errors || v.Leaks.Answer != tc.leaks {
				t.Errorf("errors %+v, want %s; leaks %+v, want %s", v.Errors, tc.errors, v.Leaks, tc.leaks)
			}
			reasons := slices.Concat(v.Errors.Reasons, v.Leaks.Reasons)
			if has := slices.ContainsFunc(reasons, func(r profile.Remark) bool { return r.Code == tc.code }); has != (tc.code != "") {
				t.Errorf("reasons %+v, want %q among them", reasons, tc.code)
			}
			for _, r := range reasons {
				checkSentence(t, r)
			}
		})
	}
}

// checkSentence expects words with an end, and no value that was not filled in.
func checkSentence(t *testing.T, r profile.Remark) {
	t.Helper()
	if r.Code == "" || len(r.Sentence) < 20 || strings.Contains(r.Sentence, "%!") {
		t.Errorf("remark %+v", r)
	}
}

func TestEveryToolHasItsLimits(t *testing.T) {
	for _, tool := range profile.Tools {
		limits := profile.Limits(tool)
		if len(limits) == 0 {
			t.Errorf("%s sees everything", tool)
		}
		for _, l := range limits {
			checkSentence(t, l)
		}
	}
	if profile.Limits("gdb") != nil {
		t.Error("an unknown tool has limits")
	}
}

func TestATool(t *testing.T) {
	for name, tc := range map[string]struct {
		tool    profile.Tool
		program profile.Program
		want    profile.Tool
	}{
		"sees an ordinary program":           {profile.Massif, profile.Program{}, profile.Massif},
		"of a static program measures pages": {profile.Massif, profile.Program{Static: true}, profile.MassifPages},
		"of an allocator, too":               {profile.MassifHeap, profile.Program{Allocator: "jemalloc"}, profile.MassifPages},
		"counts Go without calls":            {profile.Callgrind, profile.Program{Go: true}, profile.Cachegrind},
		"counts a static program with calls": {profile.Callgrind, profile.Program{Static: true}, profile.Callgrind},
		"has no other that finds errors":     {profile.Memcheck, profile.Program{Go: true}, profile.Memcheck},
	} {
		t.Run(name, func(t *testing.T) {
			got, why := profile.Suited(tc.tool, tc.program)
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
	for tool, want := range map[profile.Tool]profile.Tool{profile.Callgrind: profile.Cachegrind, profile.Massif: profile.MassifHeap, profile.Memcheck: "", profile.Cachegrind: ""} {
		if got, found := profile.Instead(tool); got != want || found != (want != "") {
			t.Errorf("after %s: %q, %v", tool, got, found)
		}
	}
}
