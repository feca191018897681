package artifact_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/testbed"
)

func storedTrial(t *testing.T, store *artifact.Store, trial any) record.RunManifest {
	t.Helper()
	a, err := store.PutJSON(t.Context(), "run/trial/manifest.json", trial)
	if err != nil {
		t.Fatal(err)
	}
	return record.RunManifest{Schema: record.RunManifestSchema, Trials: []record.TrialEntry{{Manifest: &a}}}
}

func TestATrialThatIsNotWhatATrialIsIsRefused(t *testing.T) {
	servers := func(names ...string) func(*record.TrialManifest) {
		return func(m *record.TrialManifest) { m.Servers = names }
	}
	result := func(member string) func(*record.TrialManifest) {
		return func(m *record.TrialManifest) {
			m.Artifacts = append(m.Artifacts, record.Artifact{Member: member, Name: record.ResultFile, Key: "run/trial/record.json", SHA256: digest("{}")})
		}
	}
	for name, tc := range map[string]struct {
		change  func(*record.TrialManifest)
		refused bool
		says    []string
	}{
		"one server":                            {change: servers("go")},
		"two servers":                           {change: servers("go", "epoll")},
		"no server":                             {change: servers(), refused: true, says: []string{" 0 ", "trial/manifest.json"}},
		"three servers":                         {change: servers("go", "epoll", "netty"), refused: true, says: []string{" 3 ", "trial/manifest.json"}},
		"the manifest of an older version":      {change: func(m *record.TrialManifest) { m.Schema = "loadstone.dev/trial-manifest/v1" }, refused: true, says: []string{"trial-manifest/v1", record.TrialManifestSchema}},
		"the manifest of a run":                 {change: func(m *record.TrialManifest) { m.Schema = record.RunManifestSchema }, refused: true, says: []string{record.RunManifestSchema}},
		"a manifest without a schema":           {change: func(m *record.TrialManifest) { m.Schema = "" }, refused: true, says: []string{record.TrialManifestSchema}},
		"a trial of a kind that nobody knows":   {change: func(m *record.TrialManifest) { m.Type = "Walk" }, refused: true, says: []string{"Walk", "trial/manifest.json"}},
		"a trial of no kind":                    {change: func(m *record.TrialManifest) { m.Type = "" }, refused: true, says: []string{"trial/manifest.json"}},
		"a record of its server":                {change: result("server-0")},
		"a record of a generator":               {change: result("generator-15")},
		"a record of a server it has not":       {change: result("server-1"), refused: true, says: []string{"server-1", "trial/manifest.json"}},
		"a record of a server that nobody has":  {change: result("server-2"), refused: true, says: []string{"server-2"}},
		"a record of a server without a number": {change: result("server-"), refused: true, says: []string{"server-"}},
		"a record of a seventeenth generator":   {change: result("generator-16"), refused: true, says: []string{"generator-16"}},
		"a record of nobody":                    {change: result(""), refused: true},
		"a record of an observer":               {change: result("observer"), refused: true, says: []string{"observer"}},
		"a raw output of nobody": {change: func(m *record.TrialManifest) {
			m.Artifacts = []record.Artifact{{Member: "observer", Name: "sweep-1.wrk.txt", Key: "never/read"}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			_, store := bucket(t, testbed.Store(t))
			if _, err := store.PutJSON(t.Context(), "run/trial/record.json", map[string]any{}); err != nil {
				t.Fatal(err)
			}
			m := record.TrialManifest{Schema: record.TrialManifestSchema, PlannedTrial: record.PlannedTrial{Name: "quick-000-go", Type: record.Sweep, Servers: []string{"go"}}}
			tc.change(&m)
			got, err := store.LoadTrials(t.Context(), "run", storedTrial(t, store, m))
			if (err != nil) != tc.refused || artifact.Unreadable(err) != tc.refused {
				t.Fatalf("error %v, want one that stays: %v", err, tc.refused)
			}
			for _, part := range tc.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error %q does not name %q", err, part)
				}
			}
			if err == nil && (len(got.Trials) != 1 || len(got.Trials[0].Servers) != len(m.Servers)) {
				t.Errorf("loaded %d trials", len(got.Trials))
			}
		})
	}
}

func TestAManifestThatIsNoManifestIsAnError(t *testing.T) {
	for name, body := range map[string]string{"nothing": "", "no JSON": "<html>", "a list": "[]", "half of it": `{"schema": "`, "another type": `{"schema": 2}`} {
		t.Run(name, func(t *testing.T) {
			_, store := bucket(t, testbed.Store(t))
			if _, err := store.Put(t.Context(), artifact.ManifestKey("p"), "application/json", []byte(body)); err != nil {
				t.Fatal(err)
			}
			if _, err := store.Load(t.Context(), "p", ""); err == nil || !strings.Contains(err.Error(), "p/manifest.json") {
				t.Errorf("got %v, want an error that names the manifest", err)
			}
		})
	}
}

// A manifest of another version is reported as such, whatever its fields.
func TestAManifestOfAnotherVersionIsCalledSo(t *testing.T) {
	const (
		firstRun = `{"schema": "loadstone.dev/run-manifest/v1", "run": {"namespace": "bench", "name": "quick", "uid": "run-uid-1234", "planHash": "eaf8"},
			"spec": {"implementations": null, "loads": null, "blocks": 2}, "notes": ["a note of the plan"], "seed": 7, "blocks": 2,
			"nodes": [{"role": "server", "node": "n1"}], "scripts": [{"load": "sweep", "role": "", "name": "", "key": "", "bytes": 0, "sha256": ""}],
			"started": "2026-03-14T11:59:00Z", "ended": "2026-03-14T11:59:59Z", "trials": [{"trial": "quick-000-epoll", "index": 0, "block": 1,
			"implementation": "epoll", "manifest": {"role": "", "name": "manifest.json", "key": "k", "bytes": 0, "sha256": "0"}}]}`
		firstTrial = `{"schema": "loadstone.dev/trial-manifest/v1", "run": {"namespace": "bench", "name": "quick", "uid": "run-uid-1234"}, "trial": "quick-000-go",
			"index": 0, "block": 1, "attempt": 2, "faults": ["attempt 1: PodLost: gone"], "implementation": "go", "cells": [{"load": "sweep", "tool": "wrk",
			"connections": 10, "generators": 1, "connection": "KeepAlive", "threads": 1, "warmupSeconds": 0, "durationSeconds": 10}],
			"start": "2026-03-14T12:00:00Z", "pods": [{"name": "quick-000-go-2-s", "role": "server", "node": "n1"}], "clocks": null, "artifacts": null}`
		nextRun   = `{"schema": "loadstone.dev/run-manifest/v3", "blocks": {"planned": 2, "repeated": 1}, "trials": "k/trials.json"}`
		nextTrial = `{"schema": "loadstone.dev/trial-manifest/v3", "attempt": "second", "cells": {"sweep-10": {}}}`
	)
	for name, tc := range map[string]struct {
		body  string
		trial bool
	}{
		"an older run": {firstRun, false}, "a newer run": {nextRun, false}, "an older trial": {firstTrial, true}, "a newer trial": {nextTrial, true},
	} {
		t.Run(name, func(t *testing.T) {
			folder, err := artifact.OpenFolder(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			a, err := folder.Put(t.Context(), artifact.ManifestKey("p"), "application/json", []byte(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			if _, err = folder.Load(t.Context(), "p", ""); tc.trial {
				_, err = artifact.LoadTrial(t.Context(), folder, a)
			}
			if !errors.Is(err, artifact.ErrSchema) || errors.Is(err, artifact.ErrMalformed) || !strings.Contains(err.Error(), "or the report that it stored") {
				t.Errorf("got %v, want one that says that another version wrote it", err)
			}
		})
	}
}

// A duet's second server keeps its place, whatever the order of artifacts.
func TestTheRecordsOfADuetLieInTheOrderOfItsServers(t *testing.T) {
	_, store := bucket(t, testbed.Store(t))
	m := record.TrialManifest{Schema: record.TrialManifestSchema, PlannedTrial: record.PlannedTrial{Name: "duet-000-duet", Type: record.Sweep, Servers: []string{"go", "epoll"}}}
	for _, index := range []int{1, 0} {
		server := record.ObserverResult{Environment: record.Environment{Node: fmt.Sprintf("node-%d", index)}}
		a, err := store.PutJSON(t.Context(), fmt.Sprintf("run/trial/server-%d/result.json", index), server)
		if err != nil {
			t.Fatal(err)
		}
		a.Member, a.Name = record.MemberServer(index), record.ResultFile
		m.Artifacts = append(m.Artifacts, a)
	}
	got, err := store.LoadTrials(t.Context(), "run", storedTrial(t, store, m))
	if err != nil {
		t.Fatal(err)
	}
	for index, server := range got.Trials[0].Servers {
		if want := fmt.Sprintf("node-%d", index); server.Environment.Node != want {
			t.Errorf("the record of server %d is that of %s", index, server.Environment.Node)
		}
	}
}

func TestATrialWithoutAManifestIsNotRead(t *testing.T) {
	_, store := bucket(t, testbed.Store(t))
	m := record.RunManifest{Trials: []record.TrialEntry{{Reason: "WrongResponse", Message: "it answered 500"}}}
	if got, err := store.LoadTrials(t.Context(), "run", m); err != nil || len(got.Trials) != 0 {
		t.Errorf("%d trials, %v", len(got.Trials), err)
	}
}

func TestFindSaysWhatLiesUnderAKey(t *testing.T) {
	testbed.OnEachStore(t, func(t *testing.T, at testbed.ObjectStore) {
		_, store := bucket(t, at)
		for key, body := range map[string]string{"a": "hello", "b/empty": ""} {
			want, err := store.Put(t.Context(), key, "text/plain", []byte(body))
			if err != nil {
				t.Fatal(err)
			}
			got, err := store.Find(t.Context(), key)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got):\n%s", key, err, diff)
			}
		}
		if got, err := store.Find(t.Context(), "nothing"); !errors.Is(err, artifact.ErrNotFound) {
			t.Errorf("nothing is found as %+v, %v", got, err)
		}
	})
}

func TestWhatJSONCannotHoldIsNotWritten(t *testing.T) {
	_, store := bucket(t, testbed.Store(t))
	if a, err := store.PutJSON(t.Context(), "a.json", func() {}); err == nil {
		t.Errorf("it is written as %+v", a)
	}
	if _, err := store.Get(t.Context(), "a.json", ""); !errors.Is(err, artifact.ErrNotFound) {
		t.Errorf("the key holds something: %v", err)
	}
}

func TestOnlyTroubleThatSomebodyMustMendIsTerminal(t *testing.T) {
	for err, want := range map[error]bool{
		artifact.ErrNoBucket: true, artifact.ErrDenied: true, artifact.ErrFull: true, artifact.ErrExists: true, artifact.ErrNoDigests: true, artifact.ErrOwnKeyDenied: true, artifact.ErrLapsed: false,
		artifact.ErrNoRole: true, artifact.ErrRoleAway: false, artifact.ErrUnreachable: false, artifact.ErrNotFound: false, artifact.ErrCorrupt: false, io.EOF: false, nil: false,
	} {
		if got := artifact.Terminal(err); got != want {
			t.Errorf("%v is terminal: %v, want %v", err, got, want)
		}
		if err != nil && artifact.Terminal(fmt.Errorf("writing: %w", err)) != want {
			t.Errorf("%v is not recognised when it is wrapped", err)
		}
	}
}

func TestTheScriptsOfARunLieApart(t *testing.T) {
	seen := map[string]bool{}
	for _, prefix := range []string{"p", "q"} {
		for _, key := range []string{
			artifact.ScriptKey(prefix, "a"), artifact.ScriptKey(prefix, "b"), artifact.PlanKey(prefix), artifact.ManifestKey(prefix),
			artifact.TrialPrefix(prefix, "a", 1), artifact.TrialPrefix(prefix, "a", 2), artifact.TrialPrefix(prefix, "a", 12),
		} {
			if seen[key] || !strings.HasPrefix(key, prefix+"/") {
				t.Errorf("%s is the key of two things, or lies outside %s", key, prefix)
			}
			seen[key] = true
		}
	}
}

func TestARunIsToldFromAnotherOfItsNameByItsUID(t *testing.T) {
	for uid, want := range map[string]string{"0c9f3f11-2222": "bench/quick-0c9f3f11", "short": "bench/quick-short", "": "bench/quick-"} {
		if got := artifact.RunPrefix("", record.Run{Namespace: "bench", Name: "quick", UID: uid}); got != want {
			t.Errorf("the run of UID %q lies at %s, want %s", uid, got, want)
		}
	}
}

func TestTheFlagsOfAStore(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want artifact.Config
	}{
		"the defaults": {nil, artifact.Config{Bucket: "loadstone", Region: "us-east-1"}},
		"all of them": {
			[]string{"-s3-endpoint=minio:9000", "-s3-bucket=b", "-s3-region=eu", "-s3-addressing-style=path", "-s3-tls"},
			artifact.Config{Endpoint: "minio:9000", Bucket: "b", Region: "eu", Addressing: artifact.PathStyle, Secure: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got artifact.Config
			f := flag.NewFlagSet("manager", flag.ContinueOnError)
			got.AddFlags(f)
			if err := f.Parse(tc.args); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnEndpointThatIsNoneIsRefused(t *testing.T) {
	for _, endpoint := range []string{"", "http://minio:9000/bucket", "minio:9000/bucket"} {
		if _, err := artifact.Open(artifact.Config{Endpoint: endpoint, Bucket: "b"}); err == nil {
			t.Errorf("%q is taken for an endpoint", endpoint)
		}
	}
}

// An unreadable trial fails alone, but a run without readable trials is an error.
func TestARunOfWhichNothingCanBeReadIsAnError(t *testing.T) {
	_, store := bucket(t, testbed.Store(t))
	d := recordtest.Run(recordtest.Duel(1))
	keep(t, store, "p", d)
	m := d.Manifest
	trial := d.Trials[0].Manifest
	trial.Artifacts[0].Key = "changed/lost/result.json"
	a, err := store.PutJSON(t.Context(), "changed/lost/manifest.json", trial)
	if err != nil {
		t.Fatal(err)
	}
	m.Trials, m.Trials[0].Manifest = m.Trials[:1], &a
	if _, err := store.LoadTrials(t.Context(), "changed", m); !errors.Is(err, artifact.ErrNotFound) {
		t.Errorf("got %v, want %v", err, artifact.ErrNotFound)
	}
}

func TestOnlyWhatStaysSoIsUnreadable(t *testing.T) {
	_, store := bucket(t, testbed.Store(t))
	if _, err := store.Put(t.Context(), "broken/manifest.json", "application/json", []byte("{")); err != nil {
		t.Fatal(err)
	}
	for prefix, want := range map[string]error{"broken": artifact.ErrMalformed, "missing": artifact.ErrNotFound} {
		if _, err := store.Load(t.Context(), prefix, ""); !errors.Is(err, want) || !artifact.Unreadable(err) {
			t.Errorf("a %s run is %v", prefix, err)
		}
	}
	for _, err := range []error{artifact.ErrUnreachable, artifact.ErrDenied, artifact.ErrFull, artifact.ErrNoBucket, errors.New("SlowDown")} {
		if artifact.Unreadable(fmt.Errorf("reading: %w", err)) {
			t.Errorf("%v stays so", err)
		}
	}
}
