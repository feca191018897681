package reporting_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/artifact"
	"loadstone.dev/loadstone/internal/objectives"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/reporting"
	"loadstone.dev/loadstone/internal/verdict"
)

// shelf is a store in memory.
type shelf struct {
	runs    map[string]record.RunData
	errs    map[string]error
	objects map[string][]byte
	list    []artifact.Object
	listErr error
}

func (s shelf) Load(_ context.Context, prefix string) (record.RunData, error) {
	if err := s.errs[prefix]; err != nil {
		return record.RunData{}, err
	}
	d, ok := s.runs[prefix]
	if !ok {
		return d, fmt.Errorf("reading %s: %w", prefix, artifact.ErrNotFound)
	}
	return d, nil
}

func (s shelf) Get(_ context.Context, key, _ string) ([]byte, error) { return s.objects[key], nil }

func (s shelf) List(context.Context, string) ([]artifact.Object, error) { return s.list, s.listErr }

func small() record.RunData {
	o := recordtest.Duel(3)
	o.Levels, o.Seconds = []int32{10}, 1
	return recordtest.Run(o)
}

func against(prefix string) record.RunData {
	d := small()
	d.Manifest.Spec.Objectives = []v1alpha1.Objective{{
		Metric: v1alpha1.ObjectiveRegression, Of: v1alpha1.ComparedThroughput, Min: "0.1", Implementations: []string{"go-slow"},
		Against: &v1alpha1.Earlier{Runs: []string{prefix}, Anchor: "go"},
	}}
	return d
}

func TestAReportIsMadeWithWhatItsObjectivesName(t *testing.T) {
	for name, tc := range map[string]struct {
		err     error
		want    objectives.Reason
		trouble bool
	}{
		"the earlier run is there":      {want: ""},
		"the earlier run is not there":  {err: artifact.ErrNotFound, want: objectives.NoEarlierRun},
		"the earlier run was tampered":  {err: artifact.ErrCorrupt, want: objectives.NoEarlierRun},
		"the store is away":             {err: artifact.ErrUnreachable, trouble: true},
		"the store refuses our key now": {err: artifact.ErrDenied, trouble: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := shelf{runs: map[string]record.RunData{"now": against("then"), "then": small()}, errs: map[string]error{"then": tc.err}}
			o, err := reporting.Make(t.Context(), s, "now")
			if tc.trouble {
				if !errors.Is(err, tc.err) || errors.Is(err, reporting.ErrReport) {
					t.Errorf("got %v, want %v, to be tried again", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := o.Table.Objectives[0]; got.Reason != tc.want || (got.Outcome == objectives.Met) != (tc.want == "") || len(o.HTML) == 0 || len(o.JSON) == 0 {
				t.Errorf("objective %+v, %d and %d bytes", got, len(o.HTML), len(o.JSON))
			}
		})
	}
}

func TestTheNewestNoiseFloorIsTaken(t *testing.T) {
	d := small()
	calibration := func(detectable float64) []byte {
		body, err := json.Marshal(record.Calibration{Schema: record.CalibrationSchema, Fingerprint: analysis.Fingerprint(d), Entries: []record.Noise{{Metric: "Throughput", Detectable: detectable}}})
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	s := shelf{
		runs: map[string]record.RunData{"now": d}, list: []artifact.Object{{Key: "new", Modified: time.Unix(2, 0)}, {Key: "old", Modified: time.Unix(1, 0)}},
		objects: map[string][]byte{"new": calibration(0.047), "old": calibration(0.2)},
	}
	o, err := reporting.Make(t.Context(), s, "now")
	if err != nil || o.Table.FloorOf(verdict.Throughput) == nil || o.Table.FloorOf(verdict.Throughput).Detectable != 0.047 {
		t.Errorf("noise floor %+v, %v", o.Table.NoiseFloor, err)
	}
	s.objects["new"] = []byte("{")
	if _, err := reporting.Make(t.Context(), s, "now"); err == nil {
		t.Error("a noise floor that cannot be read is passed over")
	}
	s.listErr = artifact.ErrDenied
	if o, err := reporting.Make(t.Context(), s, "now"); err != nil || o.Table.NoiseFloor != nil {
		t.Errorf("with a key that may not list: %v", err)
	}
	s.listErr = artifact.ErrUnreachable
	if _, err := reporting.Make(t.Context(), s, "now"); !errors.Is(err, artifact.ErrUnreachable) {
		t.Errorf("got %v, want ErrUnreachable", err)
	}
}

func TestARunThatContradictsItselfCannotBeReported(t *testing.T) {
	d := small()
	d.Trials[0].Manifest.Run.UID = "another"
	if _, err := reporting.Make(t.Context(), shelf{runs: map[string]record.RunData{"now": d}}, "now"); !errors.Is(err, reporting.ErrReport) {
		t.Errorf("got %v, want ErrReport", err)
	}
}
