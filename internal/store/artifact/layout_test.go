package artifact_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/minio/minio-go/v7"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/store/artifact/artifacttest"
	"loadstone.dev/loadstone/internal/testbed"
)

func TestKeysTellRunsTrialsAndAttemptsApart(t *testing.T) {
	run := record.Run{Namespace: "bench", Name: "quick", UID: "0c9f3f11-2222"}
	prefix := artifact.RunPrefix("suites/zco", run)
	trial := artifact.TrialPrefix(prefix, "quick-003-go", 2)
	got := []string{
		prefix, artifact.RunPrefix("", run), trial, artifact.ManifestKey(trial), artifact.ManifestKey(prefix), artifact.PlanKey(prefix),
		artifact.ReportKey(prefix, digest("x"), "report.html"),
	}
	want := []string{
		"suites/zco/bench/quick-0c9f3f11", "bench/quick-0c9f3f11", "suites/zco/bench/quick-0c9f3f11/trials/quick-003-go/attempt-2",
		"suites/zco/bench/quick-0c9f3f11/trials/quick-003-go/attempt-2/manifest.json", "suites/zco/bench/quick-0c9f3f11/manifest.json",
		"suites/zco/bench/quick-0c9f3f11/plan.json", "suites/zco/bench/quick-0c9f3f11/reports/" + digest("x")[:12] + "/report.html",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func keep(t *testing.T, store *artifact.Store, prefix string, d record.RunData) {
	t.Helper()
	if err := artifacttest.Keep(t.Context(), store, prefix, d); err != nil {
		t.Fatal(err)
	}
}

func TestLoadReadsBackWhatWasKept(t *testing.T) {
	testbed.OnEachStore(t, func(t *testing.T, at testbed.ObjectStore) {
		_, store := bucket(t, at)
		want := recordtest.Run(recordtest.Duel(1))
		recordtest.Drop(&want, 1, "go-slow", "WrongResponse", "it answered 500")
		keep(t, store, "p", want)
		got, err := store.Load(t.Context(), "p", "")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got.Trials) != 2 {
			t.Errorf("%d trials, (-want +got):\n%s", len(got.Trials), diff)
		}
	})
}

func TestAGeneratorWithoutARecordLeavesItsPlaceEmpty(t *testing.T) {
	_, store := bucket(t, testbed.Store(t))
	o := recordtest.Duel(1)
	o.Generators, o.Levels = 12, []int32{120}
	want := recordtest.Run(o)
	want.Trials[0].Generators[3] = record.GeneratorResult{}
	keep(t, store, "p", want)
	got, err := store.Load(t.Context(), "p", "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLoadRefusesWhatIsNotWhatItSays(t *testing.T) {
	tests := map[string]struct {
		spoil func(*record.RunData)
		want  error
		says  string
	}{
		"no run at all":                         {want: artifact.ErrNotFound, says: "p/manifest.json"},
		"a manifest of another shape":           {spoil: func(d *record.RunData) { d.Manifest.Schema = "loadstone.dev/run-manifest/v9" }, says: `its schema is "loadstone.dev/run-manifest/v9"`},
		"trials whose manifests are others":     {spoil: func(d *record.RunData) { eachTrial(d, func(a *record.Artifact) { a.SHA256 = digest("x") }) }, want: artifact.ErrCorrupt},
		"trials whose manifests are gone":       {spoil: func(d *record.RunData) { eachTrial(d, func(a *record.Artifact) { a.Key = "p/gone" }) }, want: artifact.ErrNotFound, says: "gone"},
		"trials whose manifests have no digest": {spoil: func(d *record.RunData) { eachTrial(d, func(a *record.Artifact) { a.SHA256 = "" }) }, want: artifact.ErrMalformed, says: "has no SHA-256 of it"},
		"trials of another run":                 {spoil: func(d *record.RunData) { eachTrial(d, func(a *record.Artifact) { a.Key = "q" + a.Key[1:] }) }, want: artifact.ErrForeign, says: "the manifest that names it is of s3://"},
		"trials outside of the run":             {spoil: func(d *record.RunData) { eachTrial(d, func(a *record.Artifact) { a.Key = "p/../q" + a.Key[1:] }) }, want: artifact.ErrForeign},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, store := bucket(t, testbed.Store(t))
			if tc.spoil != nil {
				d := recordtest.Run(recordtest.Duel(1))
				keep(t, store, "q/part", d)
				keep(t, store, "p/part", d)
				tc.spoil(&d)
				if _, err := store.PutJSON(t.Context(), artifact.ManifestKey("p"), d.Manifest); err != nil {
					t.Fatal(err)
				}
			}
			_, err := store.Load(t.Context(), "p", "")
			if err == nil || tc.want != nil && !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want %v that says %q", err, tc.want, tc.says)
			}
		})
	}
}

func eachTrial(d *record.RunData, change func(*record.Artifact)) {
	for i := range d.Manifest.Trials {
		change(d.Manifest.Trials[i].Manifest)
	}
}

func TestATrialThatCannotBeReadCostsItselfAlone(t *testing.T) {
	testbed.OnEachStore(t, func(t *testing.T, at testbed.ObjectStore) {
		manifest := func(d record.RunData) string { return d.Manifest.Trials[0].Manifest.Key }
		recordOf := func(member string) func(record.RunData) string {
			return func(d record.RunData) string {
				of := func(a record.Artifact) bool { return a.Member == member && a.Name == record.ResultFile }
				all := d.Trials[0].Manifest.Artifacts
				return all[slices.IndexFunc(all, of)].Key
			}
		}
		for name, tc := range map[string]struct {
			key  func(record.RunData) string
			gone bool
		}{
			"its manifest is another":                {key: manifest},
			"its manifest is gone":                   {key: manifest, gone: true},
			"the record of its server is another":    {key: recordOf("server-0")},
			"the record of its server is gone":       {key: recordOf("server-0"), gone: true},
			"the record of its generator is another": {key: recordOf("generator-0")},
			"the record of its generator is gone":    {key: recordOf("generator-0"), gone: true},
		} {
			t.Run(name, func(t *testing.T) {
				c, store := bucket(t, at)
				d := recordtest.Run(recordtest.Duel(1))
				keep(t, store, "p", d)
				key, says := tc.key(d), "its manifest says"
				if tc.gone {
					says = artifact.ErrNotFound.Error()
				}
				spoil(t, at, c.Bucket, key, tc.gone)
				got, err := store.Load(t.Context(), "p", "")
				if err != nil {
					t.Fatal(err)
				}
				lost := got.Manifest.Trials[0]
				if len(got.Trials) != len(d.Trials)-1 || lost.Manifest != nil || lost.Reason != "StoreUnavailable" || !strings.Contains(lost.Message, key) || !strings.Contains(lost.Message, says) {
					t.Errorf("%d of %d trials are read, and of the lost one is said: %+v", len(got.Trials), len(d.Trials), lost)
				}
				if notes := strings.Join(got.Manifest.Notes, " "); !strings.Contains(notes, "this record is partial") || !strings.Contains(notes, lost.Name) {
					t.Errorf("the record notes %q", notes)
				} else if got.Lost == "" || !strings.Contains(notes, got.Lost) {
					t.Errorf("what is lost is called %q", got.Lost)
				}
			})
		}
	})
}

// Copied buckets have no SHA-256 metadata. A report made again must still recognize its files.
func TestBucketCopiedToAnotherStoreIsReadAndWritten(t *testing.T) {
	from, old := bucket(t, testbed.Store(t))
	to, store := bucket(t, testbed.Gateway(t))
	want := recordtest.Run(recordtest.Duel(1))
	keep(t, old, "p", want)
	reading, writing := testbed.Store(t).Client(t), testbed.Gateway(t).Client(t)
	for o := range reading.ListObjects(t.Context(), from.Bucket, minio.ListObjectsOptions{Recursive: true}) {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		body, err := reading.GetObject(t.Context(), from.Bucket, o.Key, minio.GetObjectOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := writing.PutObject(t.Context(), to.Bucket, o.Key, body, o.Size, minio.PutObjectOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := store.Load(t.Context(), "p", "")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	keep(t, store, "p", want)
	if _, err := store.PutJSON(t.Context(), artifact.ManifestKey("p"), "another"); !errors.Is(err, artifact.ErrExists) {
		t.Errorf("another content ends with %v", err)
	}
}

func spoil(t *testing.T, at testbed.ObjectStore, bucket, key string, gone bool) {
	t.Helper()
	c := at.Client(t)
	err := c.RemoveObject(t.Context(), bucket, key, minio.RemoveObjectOptions{})
	if !gone && err == nil {
		_, err = c.PutObject(t.Context(), bucket, key, strings.NewReader("{}"), 2, minio.PutObjectOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}
