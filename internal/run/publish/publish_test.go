package publish_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/environment"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/run/publish"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/store/artifact/artifacttest"
)

type shelf struct {
	runs    map[string]record.RunData
	errs    map[string]error
	objects map[string][]byte
	list    []artifact.Object
	listErr error
}

func (s shelf) Load(_ context.Context, prefix, _ string) (record.RunData, error) {
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

// then is an earlier run; its key in a store.
func then() (record.RunData, string) {
	d := small()
	return d, artifact.RunPrefix("", d.Manifest.Run)
}

// against is a run that is compared with an earlier one, whose manifest has a digest.
func against(then record.Run, sha string) record.RunData {
	d := small()
	d.Manifest.Plan.Objectives = []record.Objective{{
		Metric: v1alpha1.ObjectiveRegression, Of: v1alpha1.ComparedThroughput, Min: "0.1", Implementations: []string{"go-slow"},
		Against: &record.Reference{Runs: []v1alpha1.PastRun{{Name: then.Name, UID: then.UID, ManifestSHA256: sha}}, Anchor: "go"},
	}}
	return d
}

func TestAReportIsMadeWithWhatItsObjectivesName(t *testing.T) {
	for name, tc := range map[string]struct {
		err     error
		lost    string
		want    objectives.Reason
		trouble bool
	}{
		"the earlier run is there":      {want: objectives.TooFewEarlierRuns},
		"the earlier run is not there":  {err: artifact.ErrNotFound, want: objectives.NoEarlierRun},
		"the earlier run was tampered":  {err: artifact.ErrCorrupt, want: objectives.NoEarlierRun},
		"the earlier run is no record":  {err: artifact.ErrMalformed, want: objectives.NoEarlierRun},
		"another version has stored it": {err: artifact.ErrSchema, want: objectives.NoEarlierRun},
		"the earlier run is partial":    {lost: "this record is partial", want: objectives.NoEarlierRun},
		"the store is away":             {err: artifact.ErrUnreachable, trouble: true},
		"the store refuses our key now": {err: artifact.ErrDenied, trouble: true},
		"a trouble that has no name":    {err: errors.New("reading s3://b/k: SlowDown: Please reduce your request rate"), trouble: true},
	} {
		t.Run(name, func(t *testing.T) {
			then, place := then()
			then.Lost = tc.lost
			s := shelf{runs: map[string]record.RunData{"now": against(then.Manifest.Run, ""), place: then}, errs: map[string]error{place: tc.err}}
			o, err := publish.Make(t.Context(), s, "now", "")
			if tc.trouble {
				if !errors.Is(err, tc.err) || errors.Is(err, publish.ErrReport) {
					t.Errorf("got %v, want %v, to be tried again", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := o.Table.Objectives[0]; !strings.Contains(got.Detail, tc.lost) || got.Reason != tc.want || (got.Value != nil) != (tc.want == objectives.TooFewEarlierRuns) || len(o.Files) != len(report.FileNames()) {
				t.Errorf("objective %+v, %d files", got, len(o.Files))
			}
		})
	}
}

// keep stores a run, and returns the digest of its manifest.
func keep(t *testing.T, store *artifact.Folder, prefix string, d record.RunData) string {
	t.Helper()
	if err := artifacttest.Keep(t.Context(), store, prefix, d); err != nil {
		t.Fatal(err)
	}
	body, err := store.Get(t.Context(), artifact.ManifestKey(prefix), "")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(body))
}

// The agent of a tenant may upload files of any content below its trials. None makes the operator read a run of another namespace.
func TestARunOfAnotherNamespaceIsNotRead(t *testing.T) {
	store, err := artifact.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	victim := small()
	victim.Manifest.Run.Namespace, victim.Manifest.Run.Name = "secret-team", "unreleased"
	for i := range victim.Trials {
		victim.Trials[i].Manifest.Run = victim.Manifest.Run
	}
	secret := keep(t, store, artifact.RunPrefix("", victim.Manifest.Run), victim)
	forged := victim.Manifest
	forged.Run.Namespace = "default"
	noDigests := forged
	noDigests.Trials = slices.Clone(forged.Trials)
	for i := range noDigests.Trials {
		m := *noDigests.Trials[i].Manifest
		m.SHA256 = ""
		noDigests.Trials[i].Manifest = &m
	}
	const agent = "default/attack-01234567/trials/attack-000-go/attempt-1/server-0"
	for name, tc := range map[string]struct {
		// manifest is what lies at a key.
		manifest record.RunManifest
		at       string
		past     v1alpha1.PastRun
		says     string
	}{
		"its name and digest":         {past: v1alpha1.PastRun{Name: "unreleased", UID: victim.Manifest.Run.UID, ManifestSHA256: secret}, says: "no such object"},
		"a prefix with its namespace": {past: v1alpha1.PastRun{Prefix: "secret-team", Name: "unreleased", UID: victim.Manifest.Run.UID, ManifestSHA256: secret}, says: "no such object"},
		"a manifest in the place of a run of one's own": {
			manifest: forged, at: artifact.RunPrefix("b", forged.Run), past: v1alpha1.PastRun{Prefix: "b", Name: "unreleased", UID: forged.Run.UID}, says: "not below the prefix of the run",
		},
		"a manifest without digests": {
			manifest: noDigests, at: artifact.RunPrefix("a", forged.Run), past: v1alpha1.PastRun{Prefix: "a", Name: "unreleased", UID: forged.Run.UID}, says: "not below the prefix of the run",
		},
		"a manifest of an agent, with a prefix that leads to it": {
			manifest: forged, at: agent, past: v1alpha1.PastRun{Prefix: agent, Name: "unreleased", UID: forged.Run.UID}, says: "no such object",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.at != "" {
				stored, err := store.PutJSON(t.Context(), artifact.ManifestKey(tc.at), tc.manifest)
				if err != nil {
					t.Fatal(err)
				}
				tc.past.ManifestSHA256 = stored.SHA256
			}
			d := against(record.Run{}, "")
			d.Manifest.Plan.Objectives[0].Against.Runs = []v1alpha1.PastRun{tc.past}
			now := fmt.Sprintf("default/now-%x", sha256.Sum256([]byte(name)))
			keep(t, store, now, d)
			o, err := publish.Make(t.Context(), store, now, "")
			if err != nil {
				t.Fatal(err)
			}
			if got := o.Table.Objectives[0]; got.Reason != objectives.NoEarlierRun || got.EarlierN != 0 || !strings.Contains(got.Detail, tc.says) {
				t.Errorf("the objective is %s with %d earlier blocks, %q: %s", got.Outcome, got.EarlierN, got.Reason, got.Detail)
			}
		})
	}
}

func TestAnEarlierRunWithAnotherManifestIsNotCompared(t *testing.T) {
	store, err := artifact.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	then, place := then()
	keep(t, store, place, then)
	keep(t, store, "now", against(then.Manifest.Run, strings.Repeat("0", 64)))
	o, err := publish.Make(t.Context(), store, "now", "")
	if err != nil {
		t.Fatal(err)
	}
	if got := o.Table.Objectives[0]; got.Reason != objectives.NoEarlierRun || !strings.Contains(got.Detail, artifact.ErrCorrupt.Error()) {
		t.Errorf("the objective is %s, %q: %s", got.Outcome, got.Reason, got.Detail)
	}
	other := keep(t, store, "default/other-89abcdef", then)
	keep(t, store, "next", against(record.Run{Name: "other", UID: "89abcdef"}, other))
	if o, err = publish.Make(t.Context(), store, "next", ""); err != nil {
		t.Fatal(err)
	}
	if got := o.Table.Objectives[0]; got.Reason != objectives.NoEarlierRun || !strings.Contains(got.Detail, "is of another run") {
		t.Errorf("of the record of another run, the objective is %s, %q: %s", got.Outcome, got.Reason, got.Detail)
	}
	if _, err := publish.Make(t.Context(), store, place, strings.Repeat("0", 64)); !errors.Is(err, artifact.ErrCorrupt) {
		t.Errorf("the report of a run whose manifest has another digest ends with %v", err)
	}
}

// Someone changes a server's record of an earlier run.
func TestARunOfWhichARecordIsCorruptIsReportedInPartAndComparedWithNoLaterOne(t *testing.T) {
	store, err := artifact.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	then, place := then()
	keep(t, store, "now", against(then.Manifest.Run, keep(t, store, place, then)))
	reported := func(prefix string) publish.Outcome {
		t.Helper()
		o, err := publish.Make(t.Context(), store, prefix, "")
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	const partial = "this record is partial"
	if o := reported("now"); o.Table.Objectives[0].Value == nil {
		t.Errorf("before, the later run is compared: %+v", o.Table.Objectives[0])
	}
	if page := reported(place).Files[0].Body; strings.Contains(string(page), partial) {
		t.Error("before, the report says that the record is partial")
	}
	spoilt := then.Trials[0].Manifest
	if err := os.WriteFile(store.URI(spoilt.Artifacts[0].Key), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := reported(place)
	if page := string(o.Files[0].Body); !strings.Contains(page, partial) || !strings.Contains(page, spoilt.Name) {
		t.Error("the report does not say that the record is partial, or of which trial")
	}
	if got := reported("now").Table.Objectives[0]; got.Reason != objectives.NoEarlierRun || !strings.Contains(got.Detail, partial) {
		t.Errorf("the later run is compared with it: %+v", got)
	}
}

func TestTheNewestNoiseFloorIsTaken(t *testing.T) {
	d := small()
	calibration := func(detectable float64) []byte {
		body, err := json.Marshal(record.Calibration{Schema: record.CalibrationSchema, Fingerprint: environment.Fingerprint(d), Entries: []record.Noise{{Metric: "Throughput", Detectable: detectable}}})
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	s := shelf{
		runs: map[string]record.RunData{"now": d}, list: []artifact.Object{{Key: "new", Modified: time.Unix(2, 0)}, {Key: "old", Modified: time.Unix(1, 0)}},
		objects: map[string][]byte{"new": calibration(0.047), "old": calibration(0.2)},
	}
	o, err := publish.Make(t.Context(), s, "now", "")
	if err != nil || o.Table.FloorOf(verdict.Throughput) == nil || o.Table.FloorOf(verdict.Throughput).Detectable != 0.047 {
		t.Errorf("noise floor %+v, %v", o.Table.NoiseFloor, err)
	}
	s.objects["new"] = []byte("{")
	if o, err := publish.Make(t.Context(), s, "now", ""); err != nil || o.Table.NoiseFloor != nil || !strings.Contains(string(o.Files[0].Body), "no noise floor is known: reading new") {
		t.Errorf("a noise floor that cannot be read costs the report, or is passed over in silence: %v", err)
	}
	s.listErr = artifact.ErrDenied
	if o, err := publish.Make(t.Context(), s, "now", ""); err != nil || o.Table.NoiseFloor != nil {
		t.Errorf("with a key that may not list: %v", err)
	}
	s.listErr = artifact.ErrUnreachable
	if _, err := publish.Make(t.Context(), s, "now", ""); !errors.Is(err, artifact.ErrUnreachable) {
		t.Errorf("got %v, want ErrUnreachable", err)
	}
}

func TestARunThatContradictsItselfCannotBeReported(t *testing.T) {
	d := small()
	d.Trials[0].Manifest.Run.UID = "another"
	if _, err := publish.Make(t.Context(), shelf{runs: map[string]record.RunData{"now": d}}, "now", ""); !errors.Is(err, publish.ErrReport) {
		t.Errorf("got %v, want ErrReport", err)
	}
}

func TestARunThatIsMoreThanLoadstoneCanTakeEndsInAnErrorToo(t *testing.T) {
	d := small()
	d.Manifest.Plan.Objectives = []record.Objective{{Metric: v1alpha1.ObjectiveRegression, Max: "1"}} // No plan has one against nothing.
	_, err := publish.Make(t.Context(), shelf{runs: map[string]record.RunData{"now": d}}, "now", "")
	if !errors.Is(err, publish.ErrReport) || !strings.Contains(err.Error(), "a fault of Loadstone's own") {
		t.Errorf("got %v, want ErrReport", err)
	}
	if _, err := publish.Analyse(d); !errors.Is(err, publish.ErrReport) {
		t.Errorf("got %v, want ErrReport", err)
	}
}

// kept is a writable store in memory: bodies by key, and the keys in order of writing.
type kept struct {
	artifact.Writer
	bodies, types map[string]string
	order         []string
	refuses       string
}

func (k *kept) Put(_ context.Context, key, contentType string, body []byte) (record.Artifact, error) {
	if k.refuses != "" && strings.HasSuffix(key, k.refuses) {
		return record.Artifact{}, artifact.ErrUnreachable
	}
	if k.bodies == nil {
		k.bodies, k.types = map[string]string{}, map[string]string{}
	}
	k.bodies[key], k.types[key], k.order = string(body), contentType, append(k.order, key)
	return record.Artifact{Key: key, Bytes: int64(len(body))}, nil
}

func files(page, data string) []report.File {
	return []report.File{{Name: "report.html", ContentType: "text/html", Body: []byte(page)}, {Name: "report.json", ContentType: "application/json", Body: []byte(data)}}
}

func TestAReportMadeAgainLiesBesideTheOlderOne(t *testing.T) {
	store := &kept{}
	places := map[string]bool{}
	for _, made := range [][2]string{{"<p>1</p>", "{}"}, {"<p>1</p>", "{}"}, {"<p>2</p>", "{}"}, {"<p>2</p>", `{"a": 1}`}} {
		page, data := made[0], made[1]
		a, err := publish.Put(t.Context(), store, "p", files(page, data))
		if err != nil {
			t.Fatal(err)
		}
		beside := strings.TrimSuffix(a.Key, "html") + "json"
		if store.bodies[a.Key] != page || store.types[a.Key] != "text/html" || store.bodies[beside] != data || store.types[beside] != "application/json" {
			t.Errorf("the store holds %v of types %v", store.bodies, store.types)
		}
		if last := store.order[len(store.order)-1]; last != a.Key {
			t.Errorf("%s is written last, want the page", last)
		}
		places[a.Key] = true
	}
	if len(places) != 3 {
		t.Errorf("three reports lie under %v", places)
	}
}

func TestAReportOfWhichAFormIsNotStoredIsNone(t *testing.T) {
	store := &kept{refuses: ".json"}
	if a, err := publish.Put(t.Context(), store, "p", files("<p>1</p>", "{}")); !errors.Is(err, artifact.ErrUnreachable) || a.Key != "" || len(store.order) > 0 {
		t.Errorf("got %v at %q, and wrote %v", err, a.Key, store.order)
	}
}
