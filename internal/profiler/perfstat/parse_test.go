package perfstat_test

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/profiler/lines"
	"loadstone.dev/loadstone/internal/profiler/perfstat"
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

func FuzzParse(f *testing.F) {
	f.Add([]byte(sample(f)))
	f.Fuzz(func(t *testing.T, text []byte) {
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
