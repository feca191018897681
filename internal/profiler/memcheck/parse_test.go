package memcheck_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/profiler/lines"
	"loadstone.dev/loadstone/internal/profiler/memcheck"
	"loadstone.dev/loadstone/internal/testbed/mutated"
)

func sample(tb testing.TB, name string) string {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

func parse(t *testing.T, name string) memcheck.Result {
	t.Helper()
	r, err := memcheck.Parse(strings.NewReader(sample(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestThePlantedFaultsAreFoundAtTheirLines(t *testing.T) {
	r := parse(t, "planted.xml")
	if !r.Finished || r.Signal != "" || r.Version != "3.19.0" || !cmp.Equal(r.Command, []string{"./planted", "100"}) {
		t.Errorf("finished %v, signal %q, version %q, command %q", r.Finished, r.Signal, r.Version, r.Command)
	}
	if len(r.Errors) != 1 || len(r.Leaks) != 1 {
		t.Fatalf("%d errors and %d leaks, want one of each", len(r.Errors), len(r.Leaks))
	}
	e, l := r.Errors[0], r.Leaks[0]
	if e.Kind != "UninitCondition" || e.Count != 100 {
		t.Errorf("the error is %s, %d times", e.Kind, e.Count)
	}
	checkSite(t, "the read of what was never written", e.Stack, "decide", "if (large)", "large = scratch[0] > 10;")
	if e.Origin == nil {
		t.Fatal("the origin of the value is missing")
	}
	checkSite(t, "the origin of the value", e.Origin.Stack, "decide", "char *scratch = malloc(32);")
	if l.Kind != memcheck.DefinitelyLost || !l.Lost() || l.Bytes != 84*256 || l.Blocks != 84 {
		t.Errorf("the leak is %+v", l)
	}
	checkSite(t, "the leak", l.Stack, "answer", "char *body = malloc(BODY_BYTES);")
}

func checkSite(t *testing.T, what string, stack []memcheck.Frame, function string, want ...string) {
	t.Helper()
	source, err := os.ReadFile("../../../hack/profile/planted.c")
	if err != nil {
		t.Fatal(err)
	}
	site := memcheck.Site(stack)
	text := strings.Split(string(source), "\n")
	if site.Function != function || site.File != "/srv/planted.c" || site.Line < 1 || site.Line > len(text) {
		t.Fatalf("%s is at %+v, want in %s", what, site, function)
	}
	for _, line := range want {
		if strings.TrimSpace(text[site.Line-1]) == line {
			return
		}
	}
	t.Errorf("%s is at line %d, %q, want one of %q", what, site.Line, text[site.Line-1], want)
}

func TestTheCleanTwinHasNoErrorAndNoLeak(t *testing.T) {
	r := parse(t, "clean.xml")
	if !r.Finished || len(r.Errors) != 0 || len(r.Leaks) != 0 {
		t.Errorf("result %+v", r)
	}
}

func TestASignalThatEndsTheProgramIsNamed(t *testing.T) {
	r := parse(t, "signal.xml")
	if r.Signal != "SIGTERM" || !r.Finished {
		t.Errorf("signal %q, finished %v", r.Signal, r.Finished)
	}
	want := map[memcheck.LeakKind]memcheck.Leak{
		memcheck.StillReachable: {Kind: memcheck.StillReachable, Bytes: 4096, Blocks: 16},
		memcheck.DefinitelyLost: {Kind: memcheck.DefinitelyLost, Bytes: 21504, Blocks: 84},
	}
	if diff := cmp.Diff(want, r.LeaksByKind()); diff != "" {
		t.Errorf("leaks (-want +got):\n%s", diff)
	}
}

func TestHalfAFileKeepsWhatItHolds(t *testing.T) {
	r, err := memcheck.Parse(strings.NewReader(sample(t, "cut.xml")))
	if !errors.Is(err, lines.ErrCut) || !strings.Contains(err.Error(), "leaks and the counts of errors are missing") {
		t.Errorf("error %v", err)
	}
	if r.Finished || len(r.Errors) != 1 || r.Errors[0].Count != 1 {
		t.Errorf("result %+v", r)
	}
}

func TestBadFilesOfMemcheck(t *testing.T) {
	begin := `<?xml version="1.0"?><valgrindoutput><protocoltool>memcheck</protocoltool>`
	for name, tc := range map[string]struct {
		text string
		want error
	}{
		"an empty file":                {"", lines.ErrEmpty},
		"another language":             {"<html><p>hello</p></html>", lines.ErrForeign},
		"text":                         {"==1== Memcheck, a memory error detector\n", lines.ErrCut},
		"another tool":                 {strings.Replace(begin, "memcheck", "drd", 1) + "</valgrindoutput>", lines.ErrForeign},
		"an end without an end":        {begin + "</valgrindoutput>", lines.ErrForeign},
		"an element that is cut":       {begin + "<error><kind>Inv", lines.ErrCut},
		"elements that do not match":   {begin + "<error></kind>", lines.ErrForeign},
		"a leak of less than nothing":  {begin + "<error><kind>Leak_PossiblyLost</kind><xwhat><leakedbytes>-1</leakedbytes></xwhat></error>", lines.ErrForeign},
		"an error that happened often": {begin + "<errorcounts><pair><count>999999999999999999</count></pair></errorcounts>", lines.ErrForeign},
		"too many errors":              {begin + strings.Repeat("<error/>", memcheck.MaxContexts+1), lines.ErrLarge},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := memcheck.Parse(strings.NewReader(tc.text)); !errors.Is(err, tc.want) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
		})
	}
}

func TestASiteIsTheProgramsOwnLine(t *testing.T) {
	preload := memcheck.Frame{Object: "/opt/valgrind/vgpreload_memcheck-amd64-linux.so", Function: "malloc", Line: 9}
	library, own := memcheck.Frame{Object: "/lib/libc.so.6", Function: "strdup"}, memcheck.Frame{Function: "main", File: "m.c", Line: 3}
	for name, tc := range map[string]struct {
		stack []memcheck.Frame
		want  memcheck.Frame
	}{
		"the first with a line":        {[]memcheck.Frame{preload, library, own}, own},
		"the innermost without a line": {[]memcheck.Frame{preload, library}, library},
		"none but a replacement":       {[]memcheck.Frame{preload}, memcheck.Frame{}},
		"no stack":                     {nil, memcheck.Frame{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := memcheck.Site(tc.stack); got != tc.want {
				t.Errorf("site %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestTheHeapThatMemcheckSaw(t *testing.T) {
	for name, tc := range map[string]struct {
		file string
		want memcheck.Heap
	}{
		"what was lost is in use at the end": {"planted.xtree", memcheck.Heap{
			InUseBytes: 21504, InUseBlocks: 84, AllocatedBytes: 28800, Allocations: 200, FreedBytes: 7296, Frees: 116,
		}},
		"all is freed":                   {"clean.xtree", memcheck.Heap{AllocatedBytes: 28800, Allocations: 200, FreedBytes: 28800, Frees: 200}},
		"a static program shows nothing": {"static.xtree", memcheck.Heap{}},
		"a program in Go shows nothing":  {"go.xtree", memcheck.Heap{}},
		"a signal leaves the last in place": {"signal.xtree", memcheck.Heap{
			InUseBytes: 25600, InUseBlocks: 100, AllocatedBytes: 28800, Allocations: 200, FreedBytes: 3200, Frees: 100,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := memcheck.ParseHeap(strings.NewReader(sample(t, tc.file)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, h); diff != "" {
				t.Errorf("heap (-want +got):\n%s", diff)
			}
			if h.Seen() != (tc.want.Allocations > 0) {
				t.Errorf("seen is %v", h.Seen())
			}
		})
	}
}

func TestBadTreesOfAllocations(t *testing.T) {
	events := "events: curB curBk totB totBk totFdB totFdBk\n"
	for name, tc := range map[string]struct {
		text string
		want error
	}{
		"an empty file":             {"", lines.ErrEmpty},
		"no totals":                 {events + "fn=(1) main\n", lines.ErrCut},
		"other events":              {"events: Ir\ntotals: 1\n", lines.ErrForeign},
		"totals without events":     {"totals: 1 2 3 4 5 6\n", lines.ErrForeign},
		"other text":                {"hello\n", lines.ErrForeign},
		"five totals":               {events + "totals: 1 2 3 4 5\n", lines.ErrForeign},
		"a total that is no number": {events + "totals: 1 2 3 4 5 x\n", lines.ErrForeign},
		"a negative total":          {events + "totals: 1 2 3 4 5 -6\n", lines.ErrForeign},
		"a line without an end":     {strings.Repeat("x", lines.MaxLine+1), lines.ErrLarge},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := memcheck.ParseHeap(strings.NewReader(tc.text)); !errors.Is(err, tc.want) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	corpus := mutated.Of[[]byte](f)
	for _, name := range []string{"planted.xml", "signal.xml", "cut.xml"} {
		corpus.Add([]byte(sample(f, name)))
	}
	corpus.Fuzz(func(t testing.TB, text []byte) {
		r, err := memcheck.Parse(bytes.NewReader(text))
		if err == nil && !r.Finished {
			t.Error("a result without an end is no error")
		}
		for _, e := range r.Errors {
			memcheck.Site(e.Stack)
		}
		for kind, sum := range r.LeaksByKind() {
			if sum.Bytes < 0 || sum.Blocks < 0 {
				t.Errorf("%s: %d bytes in %d blocks", kind, sum.Bytes, sum.Blocks)
			}
		}
	})
}

func FuzzParseHeap(f *testing.F) {
	corpus := mutated.Of[[]byte](f)
	corpus.Add([]byte(sample(f, "planted.xtree")))
	corpus.Fuzz(func(t testing.TB, text []byte) {
		if h, err := memcheck.ParseHeap(bytes.NewReader(text)); err == nil && (h.Allocations < 0 || h.InUseBytes < 0) {
			t.Errorf("heap %+v", h)
		}
	})
}
