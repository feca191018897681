package rounds_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/suite"
	"loadstone.dev/loadstone/internal/suite/history"
	"loadstone.dev/loadstone/internal/suite/rounds"
)

type reports struct {
	objects map[string][]byte
	data    record.RunData
	trouble error
}

// checkout is a suite.
var checkout = &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Name: "checkout"}}

func (s reports) Load(_ context.Context, prefix, _ string) (record.RunData, error) {
	if prefix != "r/there" {
		return record.RunData{}, fmt.Errorf("reading %s: %w", prefix, s.trouble)
	}
	return s.data, nil
}

func (s reports) Get(_ context.Context, key, _ string) ([]byte, error) {
	if body, ok := s.objects[key]; ok {
		return body, nil
	}
	return nil, fmt.Errorf("reading %s: %w", key, s.trouble)
}

func (reports) List(context.Context, string) ([]artifact.Object, error) { return nil, nil }

func smallRun() record.RunData {
	o := recordtest.Duel(3)
	o.Levels, o.Seconds = []int32{10}, 1
	return recordtest.Run(o)
}

func TestTheHistoryOfASuiteIsReadFromItsReportsOrItsRecords(t *testing.T) {
	data := smallRun()
	table, err := analysis.Analyse(data)
	if err != nil {
		t.Fatal(err)
	}
	body, err := report.JSON(table)
	if err != nil {
		t.Fatal(err)
	}
	foreign := data
	foreign.Trials = append([]record.TrialData{}, data.Trials...)
	foreign.Trials[0].Manifest.Run.UID = "another"
	there := map[string][]byte{"r/there/reports/abc/report.json": body, "r/text/reports/abc/report.json": []byte("<html>")}
	at := func(name string) suite.Measured {
		return suite.Measured{Round: 3, Run: "small", Prefix: "r/" + name, Report: "r/" + name + "/reports/abc/report.html"}
	}
	placed := func(name string) suite.Measured { return suite.Measured{Round: 3, Run: "small", Prefix: "r/" + name} }
	for name, tc := range map[string]struct {
		at      suite.Measured
		data    record.RunData
		trouble error
		// gap and err are expected parts; both empty if the round is read.
		gap, err string
	}{
		"its report":                   {at: at("there")},
		"its records":                  {at: placed("there"), data: data},
		"it has left nothing":          {at: suite.Measured{Round: 3, Run: "small"}, gap: "without a report"},
		"its report is gone":           {at: at("gone"), trouble: artifact.ErrNotFound, gap: artifact.ErrNotFound.Error()},
		"its records are gone":         {at: placed("gone"), trouble: artifact.ErrNotFound, gap: artifact.ErrNotFound.Error()},
		"its report is something else": {at: at("text"), gap: "not JSON"},
		"its records contradict":       {at: placed("there"), data: foreign, gap: "making the report"},
		"the store is away":            {at: at("x"), trouble: artifact.ErrUnreachable, err: "reading small of round 3: "},
		"the store is away, records":   {at: placed("x"), trouble: artifact.ErrUnreachable, err: artifact.ErrUnreachable.Error()},
		"the store refuses the key":    {at: at("x"), trouble: artifact.ErrDenied, err: artifact.ErrDenied.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := rounds.History(t.Context(), reports{there, tc.data, tc.trouble}, checkout, []suite.Measured{tc.at})
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("it ends with %v, want %q", err, tc.err)
			}
			if tc.gap == "" != (len(h.Gaps) == 0) || tc.gap != "" && (h.Gaps[0].Round != 3 || h.Gaps[0].Run != "small" || !strings.Contains(h.Gaps[0].Reason, tc.gap)) {
				t.Errorf("its gaps are %+v, want %q", h.Gaps, tc.gap)
			}
			if read := len(h.Series) > 0; read != (tc.gap == "" && tc.err == "") || read && (h.Suite != "checkout" || h.Series[0].Values[0].Round != 3) {
				t.Errorf("its series are %+v", h.Series)
			}
		})
	}
}

// counted serves the same report under each key, or trouble, and counts reads and their concurrency.
type counted struct {
	body    []byte
	trouble error
	gone    bool
	atOnce  int32
	// reached is closed at that many concurrent reads.
	reached          chan struct{}
	once             sync.Once
	reads, now, peak atomic.Int32
}

func (s *counted) Load(context.Context, string, string) (record.RunData, error) {
	return record.RunData{}, s.trouble
}

func (s *counted) List(context.Context, string) ([]artifact.Object, error) { return nil, nil }

// Get waits for as many reads as are allowed.
func (s *counted) Get(ctx context.Context, _, _ string) ([]byte, error) {
	s.reads.Add(1)
	n := s.now.Add(1)
	defer s.now.Add(-1)
	for most := s.peak.Load(); n > most && !s.peak.CompareAndSwap(most, n); most = s.peak.Load() {
	}
	if n >= s.atOnce {
		s.once.Do(func() { close(s.reached) })
	}
	select {
	case <-s.reached:
		return s.body, s.trouble
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *counted) Hold(string) bool { return !s.gone }

func newCounted(t *testing.T, atOnce int32) *counted {
	t.Helper()
	table, err := analysis.Analyse(smallRun())
	if err != nil {
		t.Fatal(err)
	}
	body, err := report.JSON(table)
	if err != nil {
		t.Fatal(err)
	}
	return &counted{body: body, atOnce: atOnce, reached: make(chan struct{})}
}

func measuredRounds(n int32) []suite.Measured {
	var out []suite.Measured
	for i := range n {
		prefix := fmt.Sprintf("r/%d", i+1)
		out = append(out, suite.Measured{Round: i + 1, Run: "small", Prefix: prefix, Report: prefix + "/reports/abc/report.html"})
	}
	return out
}

func TestReportsAreReadOnceAndInParallel(t *testing.T) {
	const atOnce, most = 3, 20
	s := newCounted(t, atOnce)
	reports := rounds.NewReports[history.Values](make(chan struct{}, atOnce), most)
	for n, want := range []int32{12, 12, 13, 13} { // The last two have one round more.
		h, err := rounds.HistoryBy(t.Context(), reports, s, checkout, measuredRounds(12+int32(n)/2))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range h.Series[0].Values {
			if int(v.Round) != i+1 {
				t.Errorf("value %d is of round %d", i+1, v.Round)
			}
		}
		if got := s.reads.Load(); got != want {
			t.Errorf("after %d histories, %d reports were read, want %d", n+1, got, want)
		}
	}
	if n := s.peak.Load(); n != atOnce {
		t.Errorf("%d were read at the same time, want %d", n, atOnce)
	}
	s.gone = true
	if _, err := rounds.HistoryBy(t.Context(), reports, s, checkout, measuredRounds(2)); err != nil || s.reads.Load() != 15 {
		t.Errorf("of runs that whoever asks may not get something is remembered: %d reads, %v", s.reads.Load(), err)
	}
	s.gone = false
	if _, err := rounds.HistoryBy(t.Context(), reports, s, checkout, measuredRounds(most+1)); err != nil || s.reads.Load() != 15+8 {
		t.Errorf("%d reads, %v", s.reads.Load(), err)
	}
	if _, err := rounds.HistoryBy(t.Context(), reports, s, checkout, measuredRounds(most+1)); err != nil || s.reads.Load() == 15+8 {
		t.Errorf("more are remembered than may be: %d reads, %v", s.reads.Load(), err)
	}
}

func TestUnavailableStoreEndsReading(t *testing.T) {
	s := newCounted(t, 2)
	s.trouble = artifact.ErrUnreachable
	_, err := rounds.HistoryBy(t.Context(), rounds.NewReports[history.Values](make(chan struct{}, 2), 10), s, checkout, measuredRounds(100))
	if !errors.Is(err, artifact.ErrUnreachable) || s.reads.Load() > 4 {
		t.Errorf("after %d reads: %v", s.reads.Load(), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := rounds.HistoryBy(ctx, rounds.NewReports[history.Values](make(chan struct{}, 2), 10), s, checkout, measuredRounds(100)); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits for it, and it ends with %v", err)
	}
}
