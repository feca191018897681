package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/local/reexec"
	"loadstone.dev/loadstone/internal/local/reexec/reexectest"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func quick() v1alpha1.BenchmarkRunSpec {
	return v1alpha1.BenchmarkRunSpec{
		Implementations: []v1alpha1.Implementation{
			{Name: "plain", Command: []string{"./plain"}, Port: 8080}, {Name: "costly", Command: []string{"./costly"}, Port: 8081},
		},
		Baseline: "plain", Blocks: 2, Seed: 7, TimeoutSeconds: 600,
		Loads: []v1alpha1.Load{{
			Name: "sweep", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 10}, {Connections: 100}}, WarmupSeconds: new(int32), DurationSeconds: 10,
		}},
	}
}

// led is a run whose trials have all begun without results, in a test folder.
func led(t *testing.T, spec v1alpha1.BenchmarkRunSpec) *Run {
	t.Helper()
	p, err := plan.Compile(spec, plan.Options{Name: "quick", UID: "0123456789", Local: true})
	if err != nil {
		t.Fatal(err)
	}
	folder, err := artifact.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	object := &v1alpha1.BenchmarkRun{Spec: spec}
	object.Name = "quick"
	r := &Run{
		options: Options{Run: object, Version: "v0.0.0-test"}, uid: "0123456789", node: "here", folder: folder, prefix: "results",
		seats: Seats{Server: []int{3}, Generators: [][]int{{2}}, Rest: []int{0, 1}, Owned: true},
		facts: conduct.Run{Name: "quick", Plan: p, Started: noon.Add(-time.Minute)},
	}
	r.beginTrials(p.Trials)
	return r
}

// tried is an attempt at a run's first trial, without processes.
func tried(r *Run) *attempt {
	t := &r.facts.Trials[0]
	a := &attempt{Run: r, Attempt: t.Attempt(1, noon), trial: t, team: &team{faults: make(chan *conduct.Failure, 1)}}
	for _, planned := range t.Work.Members() {
		a.team.members = append(a.team.members, &member{Member: planned, trial: t, agent: &reexec.Process{}})
	}
	return a
}

func duet() v1alpha1.BenchmarkRunSpec {
	spec := quick()
	spec.Order = v1alpha1.OrderSlicedDuet
	return spec
}

func TestAnAttemptAsksItsOwnServers(t *testing.T) {
	third := int32(3)
	for name, tc := range map[string]struct {
		spec    v1alpha1.BenchmarkRunSpec
		targets int
		shared  *int32
		bound   []record.BoundNode
	}{
		"one server": {quick(), 1, nil, []record.BoundNode{{Member: "generator-0", Node: "here"}, {Member: "server-0", Node: "here"}}},
		"two servers that take turns share the first of the servers' CPUs": {duet(), 2, &third, []record.BoundNode{
			{Member: "generator-0", Node: "here"}, {Member: "server-0", Node: "here"}, {Member: "server-1", Node: "here"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			a := tried(led(t, tc.spec))
			var want []string
			for _, server := range a.trial.Servers {
				want = append(want, map[string]string{"plain": "127.0.0.1:8080", "costly": "127.0.0.1:8081"}[server])
			}
			if got := a.targets(); !cmp.Equal(got, want) || len(got) != tc.targets {
				t.Errorf("it asks %v, want %v", got, want)
			}
			if diff := cmp.Diff(tc.shared, a.sharedCPU()); diff != "" {
				t.Errorf("the shared CPU: -want +got:\n%s", diff)
			}
			if diff := cmp.Diff(tc.bound, a.bound()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestAnAttemptTellsWhichCellItIsIn(t *testing.T) {
	a := tried(led(t, quick()))
	slots := a.Slots()
	a.Started = noon
	for name, tc := range map[string]struct {
		now  time.Duration
		want string
	}{
		"before its start":     {-time.Second, "sweep-10"},
		"in the first cell":    {slots[0].Measure, "sweep-10"},
		"in the second cell":   {slots[0].End, "sweep-100"},
		"after the last cell":  {slots[1].End + time.Second, "sweep-100"},
		"just before its next": {slots[0].End - 1, "sweep-10"},
	} {
		t.Run(name, func(t *testing.T) {
			a.Now = noon.Add(tc.now)
			if got := a.cell(); got != tc.want {
				t.Errorf("it is in %q, want %q", got, tc.want)
			}
		})
	}
	microbenchmark := tried(led(t, programs()))
	microbenchmark.Started, microbenchmark.Now = noon, noon
	if got := microbenchmark.cell(); got != "" {
		t.Errorf("a program that measures itself is in cell %q", got)
	}
}

func programs() v1alpha1.BenchmarkRunSpec {
	return v1alpha1.BenchmarkRunSpec{
		Implementations: []v1alpha1.Implementation{{Name: "plain", Command: []string{"./plain"}}, {Name: "costly", Command: []string{"./costly"}}},
		Baseline:        "plain", Blocks: 2, Seed: 7, TimeoutSeconds: 3600,
		Microbenchmark: v1alpha1.Microbenchmark{Format: v1alpha1.FormatGoTest, LimitSeconds: 10},
	}
}

func TestAPauseEndsWithWhateverComesFirst(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	fault := conduct.PermanentFailure(v1alpha1.ReasonServerExited, "it has ended")
	for name, tc := range map[string]struct {
		ctx   context.Context
		fault *conduct.Failure
		until time.Time
		err   error
	}{
		"a process that fails":    {t.Context(), fault, time.Now().Add(time.Hour), nil},
		"a run that is over":      {over, nil, time.Now().Add(time.Hour), context.Canceled},
		"an instant that is past": {t.Context(), nil, time.Now().Add(-time.Hour), nil},
		"an instant that comes":   {t.Context(), nil, time.Now().Add(time.Millisecond), nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := tried(led(t, quick()))
			a.team.fail(tc.fault)
			before := time.Now()
			f, err := a.pause(tc.ctx, tc.until)
			if f != tc.fault || !errors.Is(err, tc.err) {
				t.Errorf("it ends with %+v, %v", f, err)
			}
			if err == nil && a.Now.Before(before) {
				t.Errorf("its clock stands at %s, before %s", a.Now, before)
			}
			if err == nil && f == nil && a.Now.Before(tc.until) {
				t.Errorf("it ends at %s, before %s", a.Now, tc.until)
			}
		})
	}
}

func holding(t *testing.T, a *attempt) {
	t.Helper()
	dir := t.TempDir()
	for _, m := range a.team.members {
		m.dir = filepath.Join(dir, m.Name)
		made, err := newMember(dir, m.Member, a.trial)
		if err != nil {
			t.Fatal(err)
		}
		m.dir = made.dir
		text := "the record of " + m.Name
		reexectest.Write(t, filepath.Join(m.dir, record.ResultFile), text, 0o600)
		sum := sha256.Sum256([]byte(text))
		m.state.Files = []protocol.File{{Name: record.ResultFile, Bytes: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}}
	}
}

func TestWhatAgentsLeaveIsStoredBeforeItsManifest(t *testing.T) {
	a := tried(led(t, quick()))
	a.Number, a.failures, a.programs = 2, []string{"attempt 1: PodLost: a port was taken"}, []program{{"/srv/plain", "sha256:abc"}}
	a.trial.Started = noon
	holding(t, a)
	stored, _, err := a.store(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := "results/trials/" + a.trial.Name + "/attempt-2/manifest.json"; stored.Key != want {
		t.Errorf("the manifest lies at %s, want %s", stored.Key, want)
	}
	text, err := a.folder.Get(t.Context(), stored.Key, stored.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	var m record.TrialManifest
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	if m.Attempt != 2 || !cmp.Equal(m.Failures, a.failures) || m.Run.Namespace != record.LocalNamespace || m.Run.UID != "0123456789" || m.Operator != "v0.0.0-test" || len(m.Cells) != 2 {
		t.Errorf("the manifest holds %+v", m)
	}
	wantPods := []record.PodRecord{
		{Name: a.trial.Name + "/generator-0", Member: "generator-0", Node: "here"},
		{Name: a.trial.Name + "/server-0", Member: "server-0", Node: "here", Image: "/srv/plain", ImageID: "sha256:abc"},
	}
	if diff := cmp.Diff(wantPods, m.Pods); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(m.Artifacts) != 2 || len(m.Clocks) != 2 {
		t.Fatalf("it names %+v and %+v", m.Artifacts, m.Clocks)
	}
	for i, name := range []string{"generator-0", "server-0"} {
		body, err := a.folder.Get(t.Context(), m.Artifacts[i].Key, m.Artifacts[i].SHA256)
		if err != nil || string(body) != "the record of "+name || m.Artifacts[i].Member != name || m.Clocks[i] != (record.AgentClock{Member: name}) {
			t.Errorf("of %s it holds %q as %+v with %+v: %v", name, body, m.Artifacts[i], m.Clocks[i], err)
		}
	}
}

func TestWhatAFailedProgramPrintedIsStoredWithoutAManifest(t *testing.T) {
	a := tried(led(t, quick()))
	holding(t, a)
	own := a.team.servers()[0]
	own.state.Program = &protocol.ProgramFault{Fault: protocol.FaultExit, Message: "exit code 3"}
	stored, f, err := a.store(t.Context())
	prefix := artifact.TrialPrefix(a.prefix, a.trial.Name, a.Number)
	key := prefix + "/" + own.Name + "/" + record.ResultFile
	if err != nil || stored != nil || f == nil || !strings.HasSuffix(f.Message, ": exit code 3; its output is stored as "+key) {
		t.Fatalf("it ends with %+v, %+v, %v", stored, f, err)
	}
	if text, err := a.folder.Get(t.Context(), key, own.state.Files[0].SHA256); err != nil || string(text) != "the record of "+own.Name {
		t.Errorf("%s holds %q, %v", key, text, err)
	}
	if _, err := a.folder.Get(t.Context(), artifact.ManifestKey(prefix), ""); !errors.Is(err, artifact.ErrNotFound) {
		t.Errorf("reading the manifest ends with %v", err)
	}
}

func TestATrialWhoseFilesAreNotAsDescribedHasNoManifest(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(m *member)
		want   string
	}{
		"a file that was changed": {func(m *member) { m.state.Files[0].SHA256 = strings.Repeat("0", 64) }, "storing result.json of server-0: it is not what its agent has described"},
		"a file that is gone":     {func(m *member) { m.state.Files[0].Name = "samples.csv" }, "storing a file of server-0: "},
	} {
		t.Run(name, func(t *testing.T) {
			a := tried(led(t, quick()))
			holding(t, a)
			tc.change(a.team.servers()[0])
			if _, _, err := a.store(t.Context()); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("it ends with %v, want %s", err, tc.want)
			}
			key := artifact.ManifestKey(artifact.TrialPrefix(a.prefix, a.trial.Name, a.Number))
			if _, err := a.folder.Get(t.Context(), key, ""); !errors.Is(err, artifact.ErrNotFound) {
				t.Errorf("reading the manifest ends with %v", err)
			}
		})
	}
}

func TestAMemberWithoutAnAgentSaysNothing(t *testing.T) {
	a := tried(led(t, quick()))
	a.team.members[0].state.Phase, a.team.members[1].state.Phase = protocol.Running, protocol.Measured
	if got := a.states(); len(got) != 2 || got[0].Phase != protocol.Running || got[1].Phase != protocol.Measured {
		t.Errorf("the agents say %+v", got)
	}
	a.team.members[0].agent = nil
	if got := a.states(); len(got) != 1 || got[0].Phase != protocol.Measured {
		t.Errorf("the agents say %+v", got)
	}
}
