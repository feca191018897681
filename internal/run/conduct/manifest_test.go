package conduct_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
)

var update = flag.Bool("update", false, "rewrite golden files")

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

var identity = record.Run{Namespace: "bench", Name: "quick", UID: "run-uid-1234", PlanHash: "as it was"}

func TestTheManifestOfARunTellsHowItWasLed(t *testing.T) {
	two := []string{"go", "epoll"}
	for file, r := range map[string]conduct.Run{
		"manifest-plain.json":     runOf(t, 2, two, measured(0)),
		"manifest-repeated.json":  runOf(t, 2, two, measured(1), failed(1, v1alpha1.ReasonPodLost, "pod b was evicted")),
		"manifest-failed.json":    runOf(t, 2, two, measured(0), failed(0, v1alpha1.ReasonWrongResponse, "404"), open(3)),
		"manifest-early-end.json": runOf(t, 3, alone, measured(0), interim(2, 2), failed(2, v1alpha1.ReasonStoppedEarly, "")),
	} {
		t.Run(file, func(t *testing.T) {
			of := conduct.RunRecord{Run: identity, Operator: "test", Scripts: []record.FrozenScript{{Load: "sweep"}}}
			of.Spec = map[string]any{"blocks": r.Plan.Blocks}
			m := r.Manifest(of)
			golden(t, file, asJSON(t, m))
			if diff := cmp.Diff(m, r.Manifest(of)); diff != "" {
				t.Errorf("made twice it differs:\n%s", diff)
			}
		})
	}
}

func TestAManifestSaysWhichKeysOfAConfigMapItsDigestIsOf(t *testing.T) {
	r := runOf(t, 2, alone, measured(0))
	r.Plan.Implementations[0].Container.Env = []record.Variable{{Name: "PORT", From: record.Object{ConfigMap: "app"}, Key: "port"}}
	m := r.Manifest(conduct.RunRecord{Run: identity, ConfigMaps: []record.ConfigMap{{Name: "app", SHA256: "a"}}})
	if diff := cmp.Diff([]record.ConfigMap{{Name: "app", Keys: []string{"port"}, SHA256: "a"}}, m.ConfigMaps); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnInterimAnalysisReadsTheBlocksBeforeIt(t *testing.T) {
	r := runOf(t, 25, alone, ended(10), interim(0, 0))
	m := r.InterimManifest(conduct.RunRecord{Run: identity}, 10)
	if m.Blocks != 10 || len(m.Trials) != 10 {
		t.Errorf("it reads %d trials of %d blocks", len(m.Trials), m.Blocks)
	}
}

// Partial reports and readers count repeat blocks as the run's record does.
func TestAPartOfARunCountsItsRepeatBlocksAsTheWholeDoes(t *testing.T) {
	whole := runOf(t, 2, []string{"go", "epoll"}, measured(1)).Manifest(conduct.RunRecord{Run: identity})
	for last, want := range map[int32]struct {
		blocks, repeats int32
		trials          int
	}{1: {1, 0, 2}, 2: {2, 0, 4}, 3: {2, 1, 6}, 9: {2, 1, 6}} {
		part := conduct.UpTo(whole, last)
		if part.Blocks != want.blocks || part.RepeatBlocks != want.repeats || len(part.Trials) != want.trials {
			t.Errorf("up to block %d there are %d blocks, %d repeat blocks and %d trials, want %+v", last, part.Blocks, part.RepeatBlocks, len(part.Trials), want)
		}
		var stored []record.TrialData
		for _, entry := range part.Trials {
			stored = append(stored, record.TrialData{Manifest: record.TrialManifest{PlannedTrial: entry.PlannedTrial}})
		}
		seen := conduct.SoFar(identity, whole.Plan, stored)
		if seen.Blocks != 2 || seen.RepeatBlocks != want.repeats || len(seen.Trials) != want.trials || seen.Schema != whole.Schema {
			t.Errorf("who has seen block %d says %d blocks, %d repeat blocks and %d trials, want %+v", last, seen.Blocks, seen.RepeatBlocks, len(seen.Trials), want)
		}
	}
	if whole.RepeatBlocks != 1 || len(whole.Trials) != 6 {
		t.Errorf("the whole has become %d repeat blocks and %d trials", whole.RepeatBlocks, len(whole.Trials))
	}
}

func TestAManifestDoesNotChangeThePlan(t *testing.T) {
	r := runOf(t, 2, alone, measured(1), disturbed(1))
	before := r.Plan.Hash()
	r.Plan.Notes = append(make([]string, 0, 100), r.Plan.Notes...)
	first, second := r.Manifest(conduct.RunRecord{}), r.Manifest(conduct.RunRecord{})
	first.Notes[len(first.Notes)-1] = "changed"
	if second.Notes[len(second.Notes)-1] == "changed" || r.Plan.Hash() != before {
		t.Error("two manifests share their notes")
	}
}

func TestTheManifestOfATrialTellsWhatWasMeasured(t *testing.T) {
	trial := runOf(t, 1, alone, measured(0)).Trials[0]
	trial.Started = noon.In(time.FixedZone("", 3600))
	of := conduct.TrialRecord{
		Run: identity, Attempt: 2, Failures: []string{"attempt 1: PodLost: gone"}, Operator: "test",
		Pods: []record.PodRecord{{Name: "quick-000-go-2-s0", Member: "server-0", Node: "n1"}},
	}
	golden(t, "manifest-trial.json", asJSON(t, trial.Manifest(of)))
	trial.Servers = append(trial.Servers, "epoll")
	if m := trial.Manifest(of); !slices.Equal(m.Servers, []string{"go", "epoll"}) {
		t.Errorf("a duet is one of %s", m.Servers)
	}
}
