package controllers

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/artifact"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

// shelf is a store that holds one run and remembers what is written.
type shelf struct {
	Store
	data    record.RunData
	written map[string][]byte
}

func (s shelf) URI(key string) string { return "s3://b/" + key }

func (s shelf) Load(context.Context, string) (record.RunData, error) { return s.data, nil }

func (s shelf) List(context.Context, string) ([]artifact.Object, error) { return nil, nil }

func (s shelf) Put(_ context.Context, key, _ string, body []byte) (record.Artifact, error) {
	s.written[key] = body
	return record.Artifact{Key: key, SHA256: strings.Repeat("0", 64)}, nil
}

func (s shelf) PutJSON(ctx context.Context, key string, v any) (record.Artifact, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return record.Artifact{}, err
	}
	return s.Put(ctx, key, "application/json", body)
}

// ran is a run of ten blocks of one level, with a bound for the throughput.
func ran(least string) record.RunData {
	o := recordtest.Duel(10)
	o.Levels, o.Seconds, o.Servers = []int32{10}, 1, []recordtest.Server{o.Servers[0], o.Servers[0]}
	o.Servers[1].Name = "again"
	d := recordtest.Run(o)
	d.Manifest.Plan.Objectives = []record.Objective{{Metric: record.ObjectiveThroughput, Min: least}}
	return d
}

func TestAReportSaysWhetherObjectivesAreMet(t *testing.T) {
	for name, tc := range map[string]struct{ least, unmet, says string }{
		"met":       {"1", "", ""},
		"missed":    {"9000000", v1alpha1.ReasonObjectivesMissed, "2 of 2 objectives missed; throughput of go at sweep-10 is "},
		"undecided": {"86000", v1alpha1.ReasonObjectivesUndecided, "objectives undecided; throughput of "},
	} {
		t.Run(name, func(t *testing.T) {
			r := &BenchmarkRunReconciler{Store: shelf{data: ran(tc.least), written: map[string][]byte{}}}
			made, err := r.makeReport(t.Context(), runScopeOf(t, endTrials()))
			if err != nil || made.Unmet != tc.unmet || !strings.Contains(made.Objectives, tc.says) {
				t.Errorf("made %+v, %v", made, err)
			}
		})
	}
}

func TestAnAARunLeavesItsNoiseFloorForOthers(t *testing.T) {
	for name, twins := range map[string]bool{"an A/A run": true, "another run": false} {
		t.Run(name, func(t *testing.T) {
			d := ran("1")
			if twins {
				d.Manifest.Plan.Implementations[1].Image = d.Manifest.Plan.Implementations[0].Image
			}
			store := shelf{data: d, written: map[string][]byte{}}
			if _, err := (&BenchmarkRunReconciler{Store: store}).makeReport(t.Context(), runScopeOf(t, endTrials())); err != nil {
				t.Fatal(err)
			}
			found := 0
			for key, body := range store.written {
				if !strings.HasPrefix(key, "calibrations/") {
					continue
				}
				found++
				var c record.Calibration
				if err := json.Unmarshal(body, &c); err != nil || key != artifact.CalibrationKey(c.Fingerprint, "run-uid-1234") {
					t.Errorf("%s holds %s, %v", key, body, err)
				}
			}
			if (found == 1) != twins || found > 1 {
				t.Errorf("%d noise floors are written", found)
			}
		})
	}
}
