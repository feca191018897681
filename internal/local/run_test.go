package local

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/local/folders"
	"loadstone.dev/loadstone/internal/local/reexec/reexectest"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/run/progress"
	"loadstone.dev/loadstone/internal/trial/kind"
)

func TestABlockIsCompleteWhenItsTrialsHaveEnded(t *testing.T) {
	for name, tc := range map[string]struct {
		ended, open []int32
		want        int32
	}{
		"no trial was begun":                      {nil, nil, 0},
		"none has ended":                          {nil, []int32{1, 1, 2, 2}, 0},
		"half of the first block has ended":       {[]int32{1}, []int32{1, 2, 2}, 0},
		"the first block has ended":               {[]int32{1, 1}, []int32{2, 2}, 1},
		"half of the second block has ended":      {[]int32{1, 1, 2}, []int32{2}, 1},
		"everything has ended":                    {[]int32{1, 1, 2, 2}, nil, 2},
		"a later block has ended before an older": {[]int32{2, 2}, []int32{1}, 0},
		"a repeat block goes on":                  {[]int32{1, 1, 2, 2, 3}, []int32{3}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := led(t, quick())
			r.facts.Trials = nil
			for _, block := range tc.ended {
				r.beginTrials([]record.PlannedTrial{{Block: block, Type: record.Sweep, Servers: []string{"plain"}}})
				r.facts.Trials[len(r.facts.Trials)-1].Ended = noon
			}
			for _, block := range tc.open {
				r.beginTrials([]record.PlannedTrial{{Block: block, Type: record.Sweep, Servers: []string{"plain"}}})
			}
			if got := r.complete(); got != tc.want {
				t.Errorf("%d blocks are complete, want %d", got, tc.want)
			}
		})
	}
}

func TestARunThatIsInterruptedAtOnceHasNothingToReport(t *testing.T) {
	r := led(t, quick())
	r.facts.Trials[0].Ended = noon
	e, err := r.interrupted(t.Context())
	if diff := cmp.Diff(progress.Ending{Interrupted: true}, e); diff != "" || err != nil {
		t.Errorf("it ends with %v, -want +got:\n%s", err, diff)
	}
	if _, err := os.Stat(r.folder.URI("results")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it leaves a record: %v", err)
	}
}

func TestARunThatEndsTooEarlyWithNothingStoredHasNoReport(t *testing.T) {
	r := led(t, quick())
	late := &conduct.Ending{Condition: v1alpha1.ConditionExecuted, Reason: v1alpha1.ReasonTimedOut, Message: "the run exceeded its timeout"}
	want := progress.Ending{Outcome: conduct.Outcome{State: conduct.Failed, Reason: v1alpha1.ReasonTimedOut, Message: late.Message}}
	if e, err := r.ended(t.Context(), late); err != nil || !cmp.Equal(want, e) {
		t.Errorf("it ends with %+v, %v", e, err)
	}
}

func TestAPartOfARunIsReportedWhenItEndsTooEarly(t *testing.T) {
	r := led(t, quick())
	first := &r.facts.Trials[0]
	first.Ended, first.Stored = noon, &record.Artifact{Key: "results/none"}
	_, _ = r.ended(t.Context(), &conduct.Ending{Reason: v1alpha1.ReasonTimedOut, Message: "too late"}) // Nothing was stored: only the manifest matters.
	var m record.RunManifest
	text, err := os.ReadFile(r.folder.URI("results/manifest.json"))
	if err != nil || json.Unmarshal(text, &m) != nil || len(m.Trials) != 1 || !strings.Contains(strings.Join(m.Notes, "\n"), "this record is partial") {
		t.Errorf("the record holds %+v, %v", m, err)
	}
}

func TestAScriptIsReadFromTheFolderOfItsRun(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		want  string
	}{
		"in a folder of the ConfigMap's name":     {map[string]string{"scripts/post.lua": "below"}, "below"},
		"beside the run's file":                   {map[string]string{"post.lua": "beside"}, "beside"},
		"in both, where the folder is more exact": {map[string]string{"scripts/post.lua": "below", "post.lua": "beside"}, "below"},
		"beside a file of the ConfigMap's name":   {map[string]string{"scripts": "a file", "post.lua": "beside"}, "beside"},
		"nowhere":                                 {map[string]string{"other.lua": "another"}, ""},
		"in an empty file":                        {map[string]string{"scripts/post.lua": "", "post.lua": "beside"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range tc.files {
				path := filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				reexectest.Write(t, path, text, 0o600)
			}
			spec := quick()
			spec.Loads = append(spec.Loads, spec.Loads[0])
			spec.Loads[1].Name, spec.Loads[1].Script = "scripted", v1alpha1.Script{ConfigMap: "scripts", Key: "post.lua"}
			r := &Run{options: Options{Run: &v1alpha1.BenchmarkRun{Spec: spec}, Folder: dir}}
			err := r.freeze(t.Context())
			if tc.want == "" {
				refused(t, err, "spec.loads[1].script.key: there is no script in scripts/post.lua or post.lua")
				return
			}
			if err != nil || len(r.scripts) != 1 || r.scripts[0].Load != "scripted" || string(r.scripts[0].Text) != tc.want {
				t.Errorf("it reads %+v, %v", r.scripts, err)
			}
		})
	}
}

func TestABodyIsReadFromTheFolderOfItsRun(t *testing.T) {
	dir := t.TempDir()
	reexectest.Write(t, filepath.Join(dir, "one.json"), "{}", 0o600)
	r := &Run{options: Options{Run: &v1alpha1.BenchmarkRun{Spec: quick()}, Folder: dir}}
	asked := &r.options.Run.Spec.Loads[0].Request
	asked.BodyFrom = v1alpha1.BodySource{ConfigMap: "orders", Key: "one.json"}
	spec, err := r.withBodies()
	if err != nil || spec.Loads[0].Request.Body != "{}" || asked.Body != "" {
		t.Errorf("it sends %+v of %+v, %v", spec.Loads[0].Request, *asked, err)
	}
	asked.BodyFrom.Key = "two.json"
	_, err = r.withBodies()
	refused(t, err, "spec.loads[0].request.bodyFrom.key: there is no body in orders/two.json or two.json")
}

func refused(t *testing.T, err error, want string) {
	t.Helper()
	var v *plan.Violation
	if !errors.As(err, &v) || v.Reason != v1alpha1.ReasonInvalidSpec || !strings.Contains(v.Message, want) {
		t.Errorf("it ends with %v, want %s: %s", err, v1alpha1.ReasonInvalidSpec, want)
	}
}

func TestResultsAreNotMixedWithThoseOfAnotherRun(t *testing.T) {
	out := filepath.Join(t.TempDir(), "below", "results")
	r := &Run{options: Options{Out: out}}
	if err := r.openFolder(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r.prefix != "results" || r.folder.URI(r.prefix) != out || r.work != filepath.Join(out, ".work") {
		t.Errorf("the run lies at %s in %s, and works in %s", r.prefix, r.folder.URI(""), r.work)
	}
	if err := r.openFolder(t.Context()); err != nil {
		t.Errorf("a folder that is empty yet ends with %v", err)
	}
	reexectest.Write(t, filepath.Join(out, "plan.json"), "{}", 0o600)
	for wanted, folder := range map[string]string{
		out + " already contains a run": out,
		"file/results":                  filepath.Join(reexectest.Write(t, filepath.Join(t.TempDir(), "file"), "", 0o600), "results"),
		"the folder cannot be written":  "/proc/nowhere",
	} {
		r.options.Out = folder
		err := r.openFolder(t.Context())
		var f *FolderError
		if !errors.As(err, &f) || !strings.Contains(err.Error(), wanted) {
			t.Errorf("%s ends with %v, want %q", folder, err, wanted)
		}
	}
}

func TestAFileInThePlaceOfTheFolderOfTheResultsIsNamedFirst(t *testing.T) {
	file := reexectest.Write(t, filepath.Join(t.TempDir(), "file"), "", 0o600)
	for name, tc := range map[string]struct {
		options Options
		want    string
	}{
		"a new run":                 {Options{Out: file}, "the folder of the results: " + file + " is a file: name another one with --out"},
		"one that goes on":          {Options{Out: file, Resume: true}, "the folder of the results: " + file + " is a file: name another one with --out"},
		"one that goes on below it": {Options{Out: filepath.Join(file, "results"), Resume: true}, "the folder of the results: claiming the folder of the run: open " + file + "/results: not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			tc.options.Run = &v1alpha1.BenchmarkRun{}
			r := &Run{options: tc.options}
			f := (*FolderError)(nil)
			if err := r.prepare(t.Context()); !errors.As(err, &f) || err.Error() != tc.want {
				t.Errorf("it ends with %v, want %s", err, tc.want)
			}
		})
	}
}

func TestADiskWithoutRoomIsNamedBeforeTheRunAndInIt(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=3m"); err != nil {
		t.Skipf("this test mounts a small disk: %s", err)
	}
	r := &Run{options: Options{Out: filepath.Join(dir, "results")}}
	t.Cleanup(func() {
		r.claim.End()
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	if err := errors.Join(r.openFolder(t.Context()), r.full()); err != nil {
		t.Fatal(err)
	}
	reexectest.Write(t, filepath.Join(dir, "large"), strings.Repeat("x", 5<<19), 0o600)
	const want = "free disk space, then resume with --resume"
	if err := r.full(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("in the run it is told as %v", err)
	}
	r.options.Out = filepath.Join(dir, "others")
	if err := r.openFolder(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("before the run it is told as %v", err)
	}
}

func TestARunSaysHowItWasLedHere(t *testing.T) {
	r := led(t, quick())
	for name, tc := range map[string]struct {
		owned bool
		want  []string
	}{
		"with CPUs enough":  {true, []string{"by affinity: servers were set on CPUs [3], generator 0 on [2], Loadstone itself on [0 1]", "other programs are not kept off"}},
		"with too few CPUs": {false, []string{"too few CPUs", "servers were set on CPUs [3]", "every cell is marked"}},
	} {
		t.Run(name, func(t *testing.T) {
			r.seats.Owned = tc.owned
			notes := strings.Join(r.notes(), "\n")
			for _, want := range append(tc.want, "spec.implementations[].memory is no limit here") {
				if !strings.Contains(notes, want) {
					t.Errorf("it does not say %q:\n%s", want, notes)
				}
			}
		})
	}
}

func TestAProfilerMustBeInstalled(t *testing.T) {
	path := t.TempDir()
	t.Setenv("PATH", path)
	spec := quick()
	spec.Profiles = []v1alpha1.Profile{{Name: "counters", Tool: v1alpha1.ToolPerfStat, Implementations: []string{"plain"}}, {Name: "costs", Tool: v1alpha1.ToolCallgrind, Implementations: []string{"costly"}}}
	r := led(t, spec)
	reexectest.Write(t, filepath.Join(path, "wrk"), "#!/bin/sh\n", 0o700)
	if missing := checkNeeds(r.facts.Plan.Plan); len(missing) != 1 || !strings.HasPrefix(missing[0].Error(), "profiles[costs].tool: valgrind is not installed on this machine: install it (") {
		t.Errorf("without valgrind it ends with %v", missing)
	}
	reexectest.Write(t, filepath.Join(path, "valgrind"), "#!/bin/sh\n", 0o700)
	if missing := checkNeeds(r.facts.Plan.Plan); len(missing) > 0 {
		t.Errorf("with valgrind it ends with %v", missing)
	}
	r.images = map[string]imaged{"other": {}}
	if err := r.checkImages(); err != nil {
		t.Errorf("what is not profiled, in an image, ends with %v", err)
	}
	r.images = map[string]imaged{"costly": {}}
	if err := r.checkImages(); err == nil || !strings.HasPrefix(err.Error(), "implementations[costly] runs in its image, which on this machine no profiler can enter") {
		t.Errorf("in an image it ends with %v", err)
	}
}

func TestAnEventTellsHowFarTheRunIs(t *testing.T) {
	var told []progress.Event
	r := led(t, quick())
	r.options.Tell = func(e progress.Event) { told = append(told, e) }
	r.facts.Trials[0].Ended, r.facts.Trials[0].Stored = noon, &record.Artifact{}
	r.tell(progress.Event{Kind: progress.EventNote, Message: "a note"})
	want := progress.Event{Kind: progress.EventNote, Message: "a note", Blocks: 2, Done: 2, All: 8, Left: r.facts.Left()}
	if diff := cmp.Diff([]progress.Event{want}, told); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	r.options.Tell = nil
	r.tell(progress.Event{}) // Nobody listens.
}

var itExited = conduct.PermanentFailure(v1alpha1.ReasonServerExited, "implementations[costly] exited")

func TestAFailedTrialIsToldAndEnded(t *testing.T) {
	var told []progress.Event
	r := led(t, quick())
	r.options.Tell = func(e progress.Event) { told = append(told, e) }
	trial := &r.facts.Trials[1]
	r.failed(trial, itExited)
	if trial.Ended.IsZero() || trial.Stored != nil || trial.Reason != itExited.Reason || trial.Message != itExited.Message {
		t.Errorf("the trial ends as %+v", trial)
	}
	if len(told) != 1 || told[0].Kind != progress.EventFailed || told[0].Trial.Name != trial.Name || told[0].Message != itExited.Message {
		t.Errorf("it is told %+v", told)
	}
}

func TestAnInterruptedRunDoesNotCountARepeatBlockThatIsNotComplete(t *testing.T) {
	r := led(t, quick())
	for i := range r.facts.Trials {
		r.facts.Trials[i].Ended, r.facts.Trials[i].Reason = noon, v1alpha1.ReasonServerExited
	}
	r.beginTrials(r.facts.Plan.Repeat("quick", 1))
	_, _ = r.interrupted(t.Context()) // Nothing was stored: only the manifest matters.
	var m record.RunManifest
	text, err := os.ReadFile(r.folder.URI("results/manifest.json"))
	if err != nil || json.Unmarshal(text, &m) != nil || m.RepeatBlocks != 0 {
		t.Errorf("%d repeat blocks were measured, %v", m.RepeatBlocks, err)
	}
}

func TestTheServersOfADuetNeedAPortEach(t *testing.T) {
	r := led(t, duet())
	if err := r.checkDuetPorts(); err != nil {
		t.Errorf("ports of their own are refused: %v", err)
	}
	r.facts.Plan.Implementations[1].Port = r.facts.Plan.Implementations[0].Port
	if err := r.checkDuetPorts(); err == nil || !strings.Contains(err.Error(), "a port of its own") {
		t.Errorf("one port for both: %v", err)
	}
}

func TestTheCPUsOfATrialFollowFromItsWork(t *testing.T) {
	for name, tc := range map[string]struct {
		work kind.Work
		want int
	}{
		"a server and its generator":     {led(t, quick()).facts.Trials[0].Work, 2},
		"servers that share one":         {led(t, duet()).facts.Trials[0].Work, 2},
		"a program that measures itself": {led(t, programs()).facts.Trials[0].Work, 1},
	} {
		if n := NeedsOf(tc.work); n.All() != tc.want {
			t.Errorf("%s: it needs %+v, want %d", name, n, tc.want)
		}
	}
}

func TestARunIsLedByOneProcess(t *testing.T) {
	dir := t.TempDir()
	first, err := folders.ClaimRun(dir)
	if err != nil || first == nil {
		t.Fatalf("it is claimed as %v, %v", first, err)
	}
	if second, err := folders.ClaimRun(dir); second != nil || err != nil {
		t.Errorf("a second process claims it as %v, %v", second, err)
	}
	r := &Run{options: Options{Out: dir}}
	f := (*FolderError)(nil)
	if err := r.openFolder(t.Context()); !errors.As(err, &f) || !strings.Contains(err.Error(), "another loadstone run is at work in the folder "+dir) {
		t.Errorf("while the first leads it, it ends with %v", err)
	}
	first.End()
	if err := r.openFolder(t.Context()); err != nil {
		t.Errorf("a run that has ended is still claimed: %v", err)
	}
	r.claim.End()
	if _, err := os.Stat(folders.Work(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of its processes is left: %v", err)
	}
}
