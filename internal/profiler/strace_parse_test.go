package profiler_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/profiler/lines"
	"loadstone.dev/loadstone/internal/testbed/mutated"
)

func straceSample(tb testing.TB, name string) string {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "strace", name))
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

func count(t *testing.T, name, call string) int64 {
	t.Helper()
	r, err := profiler.ParseSystemCalls(strings.NewReader(straceSample(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(r.Calls, func(c profiler.Call) bool { return c.Name == call })
	if i < 0 {
		return 0
	}
	return r.Calls[i].Count
}

func TestThePlantedSystemCallIsFoundByItsName(t *testing.T) {
	for name, tc := range map[string]struct {
		file, call string
		want       int64
	}{
		"one for each request":         {"planted.txt", "getppid", 100},
		"none in the clean twin":       {"clean.txt", "getppid", 0},
		"both answer all requests":     {"clean.txt", "write", 100},
		"the planted one does so, too": {"planted.txt", "write", 100},
		"a killed program is counted":  {"signal.txt", "getppid", 100},
	} {
		t.Run(name, func(t *testing.T) {
			if got := count(t, tc.file, tc.call); got != tc.want {
				t.Errorf("%d times %s, want %d", got, tc.call, tc.want)
			}
		})
	}
}

const (
	head = "% time     seconds  usecs/call     calls    errors syscall\n------ ----------- ----------- --------- --------- ----------------\n"
	row  = " 39.04    0.000251           2       100         3 accept4\n"
)

func TestARowHasItsErrorsAndItsTime(t *testing.T) {
	r, err := profiler.ParseSystemCalls(strings.NewReader(head + row + "------ ---\n100.00    0.000251           2       100         3 total\n"))
	if err != nil {
		t.Fatal(err)
	}
	if want := (profiler.Call{Name: "accept4", Count: 100, Errors: 3, Seconds: 0.000251}); len(r.Calls) != 1 || r.Calls[0] != want {
		t.Errorf("calls %+v, want %+v", r.Calls, want)
	}
	if r.Total.Count != 100 || r.Total.Errors != 3 {
		t.Errorf("total %+v", r.Total)
	}
}

func TestBadTablesOfStrace(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want error
	}{
		"an empty file":             {"", lines.ErrEmpty},
		"a table without its end":   {head + row, lines.ErrCut},
		"another file":              {"execve(\"/srv/x\", [\"x\"], 0x7f) = 0\n", lines.ErrForeign},
		"a row of words":            {head + "hello\n", lines.ErrForeign},
		"a count that is none":      {head + strings.Replace(row, "100", "1x0", 1), lines.ErrForeign},
		"a time that is none":       {head + strings.Replace(row, "0.000251", "-1", 1), lines.ErrForeign},
		"totals of another table":   {head + row + "100.00    0.000251           2       101         3 total\n", lines.ErrForeign},
		"errors of another table":   {head + row + "100.00    0.000251           2       100           total\n", lines.ErrForeign},
		"too many system calls":     {head + strings.Repeat(row, profiler.MaxCalls+1), lines.ErrLarge},
		"a line without an end":     {strings.Repeat("x", lines.MaxLine+1), lines.ErrLarge},
		"two tables, the first cut": {head + row + head, lines.ErrForeign},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := profiler.ParseSystemCalls(strings.NewReader(tc.text)); !errors.Is(err, tc.want) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
		})
	}
}

func FuzzParseSystemCalls(f *testing.F) {
	corpus := mutated.Of[[]byte](f)
	corpus.Add([]byte(straceSample(f, "planted.txt")))
	corpus.Fuzz(func(t testing.TB, text []byte) {
		r, err := profiler.ParseSystemCalls(bytes.NewReader(text))
		for _, c := range r.Calls {
			if c.Count < 0 || c.Errors < 0 || c.Seconds < 0 {
				t.Errorf("%+v (error %v)", c, err)
			}
		}
	})
}
