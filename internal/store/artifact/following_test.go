package artifact

import (
	"errors"
	"fmt"
	"testing"

	"loadstone.dev/loadstone/internal/record"
)

func storedProfile(t *testing.T, f *Folder, line record.PlannedTrial, result any) record.TrialEntry {
	t.Helper()
	a, err := f.PutJSON(t.Context(), "run/"+line.Name+"/server-0/result.json", result)
	if err != nil {
		t.Fatal(err)
	}
	a.Member, a.Name = record.MemberServer(0), record.ResultFile
	m, err := f.PutJSON(t.Context(), "run/"+line.Name+"/manifest.json", record.TrialManifest{
		Schema: record.TrialManifestSchema, PlannedTrial: line, Artifacts: []record.Artifact{a}, Profiling: &record.Profile{Name: line.Item, Tool: "strace"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return record.TrialEntry{PlannedTrial: line, Manifest: &m}
}

func profileLine(n int) record.PlannedTrial {
	return record.PlannedTrial{Name: fmt.Sprintf("run-p%02d-go", n), Index: int32(n), Type: record.ProfileType, Servers: []string{"go"}, Item: "calls"}
}

func TestWhatFollowedTheBlocksIsLoadedApart(t *testing.T) {
	f := folder(t)
	m := record.RunManifest{Schema: record.RunManifestSchema, Following: []record.TrialEntry{
		storedProfile(t, f, profileLine(1), record.ObserverResult{Profiled: &record.Profiled{Tool: "strace", Launches: []record.Launch{{Asked: 5, Files: []string{"launch-0.strace.txt"}}}}}),
		{PlannedTrial: profileLine(2), Reason: "PodLost", Message: "gone"},
	}}
	if _, err := f.PutJSON(t.Context(), ManifestKey("run"), m); err != nil {
		t.Fatal(err)
	}
	d, err := f.Load(t.Context(), "run", "")
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Trials) != 0 || len(d.Following) != 1 || len(d.Manifest.Following) != 2 {
		t.Fatalf("%d trials of blocks and %d that followed are loaded", len(d.Trials), len(d.Following))
	}
	got := d.Following[0]
	if got.Manifest.Name != "run-p01-go" || !got.Manifest.Follows() || got.Manifest.Profiling.Name != "calls" || len(got.Rows) != 0 {
		t.Errorf("its manifest is %+v", got.Manifest)
	}
	if p := got.Servers[0].Profiled; len(p.Launches) != 1 || p.Launches[0].Asked != 5 || p.Launches[0].Files[0] != "launch-0.strace.txt" {
		t.Errorf("it has found %+v", p)
	}
}

// Trials after the blocks are not part of a verdict, but are checked as strictly.
func TestWhatFollowedTheBlocksIsNotBelievedBlindly(t *testing.T) {
	f := folder(t)
	changed := storedProfile(t, f, profileLine(1), record.ObserverResult{Profiled: &record.Profiled{Tool: "strace"}})
	digest := *changed.Manifest
	digest.SHA256 = digest.SHA256[1:] + "0"
	changed.Manifest = &digest
	for name, tc := range map[string]struct {
		entry record.TrialEntry
		want  error
	}{
		"a manifest that has changed":         {changed, ErrCorrupt},
		"a result that is none of a profile":  {storedProfile(t, f, profileLine(2), record.ObserverResult{}), ErrMalformed},
		"a trial of a kind that nobody knows": {storedProfile(t, f, record.PlannedTrial{Name: "run-p03-go", Type: "Dance", Servers: []string{"go"}}, struct{}{}), ErrSchema},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := loadTrials(t.Context(), f, "run", record.RunManifest{Following: []record.TrialEntry{tc.entry}})
			if !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}
