package perfstat_test

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/profiler/lines"
	"loadstone.dev/loadstone/internal/profiler/perfstat"
	"loadstone.dev/loadstone/internal/testbed/mutated"
)

func sample(tb testing.TB) string {
	tb.Helper()
	text, err := os.ReadFile("testdata/planted.csv")
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

func TestWhatAMachineDoesNotCountIsNoZero(t *testing.T) {
	counters, err := perfstat.Parse(strings.NewReader(sample(t)))
	if err != nil {
		t.Fatal(err)
	}
	find := func(event string) perfstat.Counter {
		i := slices.IndexFunc(counters, func(c perfstat.Counter) bool { return c.Event == event })
		if i < 0 {
			t.Fatalf("no %s in %+v", event, counters)
		}
		return counters[i]
	}
	if c := find("task-clock"); c.Value == nil || *c.Value <= 0 || c.Unit != "msec" || c.Extrapolated() {
		t.Errorf("task-clock is %+v", c)
	}
	if c := find("page-faults"); c.Value == nil || *c.Value < 10 || c.Unit != "" {
		t.Errorf("page-faults is %+v", c)
	}
	if c := find("instructions"); c.Value != nil || c.Why != "not supported" || c.Extrapolated() {
		t.Errorf("instructions is %+v", c)
	}
}

func TestAnEventThatWasCountedInTurnsIsExtrapolated(t *testing.T) {
	counters, err := perfstat.Parse(strings.NewReader("1200,,cycles:u,90,45.00,,\n<not counted>,,branches,0,0.00,,\n"))
	if err != nil {
		t.Fatal(err)
	}
	if !counters[0].Extrapolated() || counters[0].Share != 0.45 || counters[1].Why != "not counted" {
		t.Errorf("counters %+v", counters)
	}
}

func TestBadFilesOfPerf(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want error
	}{
		"an empty file":            {"", lines.ErrEmpty},
		"a start and no end":       {"# started on Sun Nov 22 13:02:05 2026\n\n", lines.ErrCut},
		"words":                    {"Workload failed: Permission denied\n", lines.ErrForeign},
		"no event":                 {"1,,,2,100.00\n", lines.ErrForeign},
		"a value that is none":     {"-1,,cycles,2,100.00\n", lines.ErrForeign},
		"half a line":              {"57,,page-faults,0,100.00,,\n1841226,,instru", lines.ErrCut},
		"half a word of why":       {"57,,page-faults,0,100.00,,\n<operation not perm", lines.ErrCut},
		"a share of more than all": {"1,,cycles,2,101\n", lines.ErrForeign},
		"too many counters":        {strings.Repeat("1,,cycles,2,100\n", perfstat.MaxCounters+1), lines.ErrLarge},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := perfstat.Parse(strings.NewReader(tc.text)); !errors.Is(err, tc.want) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
		})
	}
}

func TestWhatWasWrittenBeforeHalfALineIsKept(t *testing.T) {
	counters, err := perfstat.Parse(strings.NewReader("57,,page-faults,0,100.00,,\n1841226,,instru"))
	if err == nil || len(counters) != 1 || *counters[0].Value != 57 {
		t.Errorf("%+v, %v", counters, err)
	}
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	for _, file := range []string{"counters.csv", "refused.csv", "planted.csv"} {
		text, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := perfstat.Parse(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := perfstat.Write(&out, want); err != nil {
			t.Fatal(err)
		}
		got, err := perfstat.Parse(&out)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s, %v (-want +got):\n%s", file, err, diff)
		}
	}
}

// A reason must not add lines or columns.
func TestAReasonIsNoLineOfItsOwn(t *testing.T) {
	var out bytes.Buffer
	err := perfstat.Write(&out, []perfstat.Counter{{Event: "cycles", Why: "a, b\n<c>"}, {Event: "branches", Why: "d"}})
	if got, perr := perfstat.Parse(&out); err != nil || perr != nil || len(got) != 2 || got[0].Why != "a; b c" || got[1].Why != "d" {
		t.Errorf("%+v, %v, %v", got, err, perr)
	}
}

func FuzzParse(f *testing.F) {
	corpus := mutated.Of[[]byte](f)
	corpus.Add([]byte(sample(f)))
	corpus.Fuzz(func(t testing.TB, text []byte) {
		counters, err := perfstat.Parse(bytes.NewReader(text))
		if err == nil && len(counters) == 0 {
			t.Error("no counters are no error")
		}
		for _, c := range counters {
			if c.Value != nil && *c.Value < 0 || c.Share < 0 || c.Share > 1 {
				t.Errorf("counter %+v", c)
			}
		}
	})
}
