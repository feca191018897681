package kube

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/run/progress"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/store/download"
	"loadstone.dev/loadstone/internal/testbed"
)

type followed struct {
	t     *testing.T
	run   *v1alpha1.BenchmarkRun
	c     client.Client
	files map[string][]byte
	// gets are requested files. refuses makes the operator refuse everything.
	gets    []string
	refuses bool
	stored  func(context.Context) (*Stored, error)
}

func newFollowed(t *testing.T, data record.RunData) *followed {
	t.Helper()
	r := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "quick", UID: types.UID(data.Manifest.Run.UID)}}
	r.Spec.Blocks = data.Manifest.Blocks
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	f := &followed{t: t, run: r, files: map[string][]byte{}, c: fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(r, &v1alpha1.Trial{}).Build()}
	if err := f.c.Create(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	f.status(func(s *v1alpha1.BenchmarkRunStatus) {
		s.StartTime, s.DownloadKey = &metav1.Time{Time: data.Manifest.Started}, "key"
		s.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonInProgress}}
	})
	f.put(artifact.PlanKey(download.PrefixOf(r)), data.Manifest.Plan)
	operator := httptest.NewServer(http.HandlerFunc(f.answer))
	t.Cleanup(operator.Close)
	asked, err := download.NewClient(&rest.Config{Host: operator.URL, BearerToken: "abc"}, "system")
	if err != nil {
		t.Fatal(err)
	}
	f.stored = func(context.Context) (*Stored, error) {
		return &Stored{handout: asked, open: func(context.Context) (*Installation, error) {
			return nil, errors.New("you may not read the key")
		}}, nil
	}
	return f
}

func (f *followed) answer(w http.ResponseWriter, q *http.Request) {
	file := strings.TrimPrefix(q.URL.Path, "/api/v1/namespaces/system/services/https:loadstone:handout/proxy/v1/namespaces/bench/benchmarkruns/quick/")
	f.gets = append(f.gets, file)
	body, ok := f.files[download.PrefixOf(f.run)+"/"+file]
	w.Header().Set("Server", "loadstone")
	switch {
	case f.refuses:
		w.WriteHeader(http.StatusForbidden)
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	}
	_, _ = w.Write(body)
}

// put stores a value, and returns its digest.
func (f *followed) put(key string, v any) string {
	f.t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		f.t.Fatal(err)
	}
	f.files[key] = body
	return fmt.Sprintf("%x", sha256.Sum256(body))
}

func (f *followed) measure(d record.TrialData) {
	f.t.Helper()
	folder := download.PrefixOf(f.run) + "/trials/" + d.Manifest.Name
	m := d.Manifest
	m.Artifacts = nil
	for member, result := range map[string]any{record.MemberServer(0): d.Servers[0], record.MemberGenerator(0): d.Generators[0]} {
		own := record.Artifact{Member: member, Name: record.ResultFile, Key: folder + "/" + member}
		own.SHA256 = f.put(own.Key, result)
		m.Artifacts = append(m.Artifacts, own)
	}
	sum := f.put(folder+"/manifest.json", m)
	t := &v1alpha1.Trial{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: m.Name, Labels: map[string]string{v1alpha1.LabelRunUID: string(f.run.UID)}}}
	t.Spec.Block, t.Spec.Index = m.Block, &m.Index
	if err := f.c.Create(f.t.Context(), t); err != nil {
		f.t.Fatal(err)
	}
	t.Status.CompletionTime, t.Status.ManifestKey, t.Status.ManifestSHA256 = &metav1.MicroTime{Time: m.Start}, folder+"/manifest.json", sum
	if err := f.c.Status().Update(f.t.Context(), t); err != nil {
		f.t.Fatal(err)
	}
}

func (f *followed) status(change func(*v1alpha1.BenchmarkRunStatus)) {
	f.t.Helper()
	change(&f.run.Status)
	if err := f.c.Status().Update(f.t.Context(), f.run); err != nil {
		f.t.Fatal(err)
	}
}

func (f *followed) follow(after func(progress.Event)) []progress.Event {
	f.t.Helper()
	var all []progress.Event
	tell := func(e progress.Event) {
		all = append(all, e)
		after(e)
	}
	ctx, cancel := context.WithTimeout(f.t.Context(), testbed.Patience)
	defer cancel()
	follower := Follower{Client: f.c, Key: client.ObjectKeyFromObject(f.run), UID: f.run.UID, Tell: tell, Every: time.Millisecond, Stored: f.stored}
	if _, err := follower.Follow(ctx); err != nil {
		f.t.Fatal(err)
	}
	return all
}

func ends(s *v1alpha1.BenchmarkRunStatus) { s.CompletionTime = &metav1.Time{Time: time.Unix(1, 0)} }

func pair(blocks int32) record.RunData {
	o := recordtest.Duel(blocks)
	o.Levels, o.Servers = []int32{10}, o.Servers[:2]
	return recordtest.Run(o)
}

func TestResultsArePrintedWhenTrialsEnd(t *testing.T) {
	data := pair(1)
	f := newFollowed(t, data)
	f.measure(data.Trials[0])
	measured := f.follow(func(e progress.Event) {
		switch {
		case e.Kind == progress.EventMeasured && e.Trial.Name == data.Trials[0].Manifest.Name:
			f.measure(data.Trials[1])
		case e.Kind == progress.EventMeasured:
			f.status(ends)
		}
	})
	var trials []string
	for _, e := range measured {
		if e.Kind != progress.EventMeasured {
			continue
		}
		trials = append(trials, e.Trial.Name)
		if len(e.Results) != 1 || e.Results[0].Name != "sweep-10" || e.Results[0].Value < 1000 || e.Results[0].P99Micros == nil || e.Results[0].Doubt != "" {
			t.Errorf("of %s it tells %+v", e.Trial.Name, e.Results)
		}
	}
	if len(trials) != 2 {
		t.Errorf("it tells of the trials %q", trials)
	}
	// A manifest and two records of each, and the plan, once.
	if len(f.gets) != 7 {
		t.Errorf("it has asked for %q", f.gets)
	}
}

func TestReasonOfRepeatedBlockIsPrinted(t *testing.T) {
	data := pair(2)
	_, seen := recordtest.Cell(&data, 2, "go", 10)
	seen.StealNanos = seen.CoreNanos / 2
	f := newFollowed(t, data)
	for _, d := range data.Trials {
		f.measure(d)
	}
	f.status(func(s *v1alpha1.BenchmarkRunStatus) {
		s.Repeats = v1alpha1.RepeatStatus{ScannedBlocks: 2, DisturbedBlocks: []int32{2}}
	})
	repeat := data.Trials[0]
	repeat.Manifest.Name, repeat.Manifest.Block, repeat.Manifest.Index = "again", 3, 4
	var notes []string
	all := f.follow(func(e progress.Event) {
		switch {
		case e.Kind == progress.EventMeasured && e.Trial.Name == data.Trials[len(data.Trials)-1].Manifest.Name:
			f.measure(repeat)
		case e.Kind == progress.EventNote:
			notes = append(notes, e.Message)
			f.status(ends)
		}
	})
	const disturbed = "block 2 (Steal)"
	if len(notes) != 1 || notes[0] != "disturbed: "+disturbed+": repeat block 1 is measured" {
		t.Errorf("it notes %q", notes)
	}
	for _, e := range all {
		want := ""
		if e.Kind != progress.EventMeasured {
			continue
		}
		if e.Trial.Name == "duel-b02-go" {
			want = "void: Steal"
		}
		if len(e.Results) != 1 || e.Results[0].Doubt != want {
			t.Errorf("the results of %s are %+v, want one marked %q", e.Trial.Name, e.Results, want)
		}
	}
	if last := all[len(all)-1]; last.Troubles != disturbed || last.Repeats != 1 {
		t.Errorf("it ends with %+v", last)
	}
}

func TestARunIsFollowedWithoutValuesThatCannotBeRead(t *testing.T) {
	data := pair(2)
	unopened := errors.New("the cluster has no operator")
	for name, tc := range map[string]struct {
		refuses bool
		stored  func(context.Context) (*Stored, error)
		want    string
	}{
		"the operator refused the download": {refuses: true, want: "without access to the operator you need the credentials of the object store: you may not read the key"},
		"the store cannot be asked":         {stored: func(context.Context) (*Stored, error) { return nil, unopened }, want: unopened.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFollowed(t, data)
			f.refuses = tc.refuses
			if tc.stored != nil {
				f.stored = tc.stored
			}
			for _, d := range data.Trials {
				f.measure(d)
			}
			f.status(ends)
			var said []string
			measured := 0
			for _, e := range f.follow(func(progress.Event) {}) {
				if e.Kind == progress.EventNote {
					said = append(said, e.Message)
				}
				if e.Kind == progress.EventMeasured {
					measured++
					if e.Results != nil {
						t.Errorf("of %s it tells %+v", e.Trial.Name, e.Results)
					}
				}
			}
			if measured != len(data.Trials) || len(said) != 1 || !strings.HasPrefix(said[0], "results are shown only in the report, because reading them failed: ") || !strings.HasSuffix(said[0], tc.want) {
				t.Errorf("it tells of %d trials, and says %q", measured, said)
			}
		})
	}
}
