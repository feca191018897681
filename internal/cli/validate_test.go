package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/cli/runfile"
	"loadstone.dev/loadstone/internal/run/plan"
)

const sound = `apiVersion: loadstone.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: quick}
spec:
  implementations:
  - {name: plain, command: [./plain], port: 8080}
  - {name: costly, command: [./costly], port: 8081}
  baseline: plain
  loads:
  - {name: sweep, tool: wrk, levels: [{connections: 10}], durationSeconds: 2}
  blocks: 7
`

// written writes a file with one replacement into a folder, and returns its path.
func written(t *testing.T, name, old, instead string) string {
	t.Helper()
	if !strings.Contains(sound, old) {
		t.Fatalf("%q is not in the file", old)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(strings.Replace(sound, old, instead, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestValidatePrintsAllProblemsWithLines(t *testing.T) {
	for name, tc := range map[string]struct {
		old, instead string
		want         []string
		status       int
	}{
		"a file of commands":     {"", "", []string{": valid: 14 trials of 1 cell, about ", ", on this machine; a cluster needs images\n"}, 0},
		"a file of images":       {"command: [./plain], port: 8080}\n  - {name: costly, command: [./costly]", "image: a, port: 8080}\n  - {name: costly, image: b", []string{", on a cluster or on this machine\n"}, 0},
		"both":                   {"command: [./plain], port: 8080}\n  - {name: costly, command: [./costly]", "image: a, command: [./plain], port: 8080}\n  - {name: costly, image: b, command: [./costly]", []string{", on a cluster or on this machine\n"}, 0},
		"three faults":           {"command: [./plain], port: 8080", "command: ./plain, prot: 8080", []string{":6: spec.implementations[0].prot: unknown field: did you mean port?\n", ":6: spec.implementations[0].command: \"./plain\" is a string, not a list: write [\"./plain\"]\n", ": some rules were not checked: correct these problems first\n"}, 2},
		"tabs":                   {"  baseline", "\tbaseline", []string{":8: indented with a tab, which YAML does not allow: use spaces\n", ": the fields were not checked: correct this first\n"}, 2},
		"a second document":      {"spec:", "spec: {}\n---\nspec:", []string{":6: a second document starts here: put each run in a separate file\n"}, 2},
		"another kind":           {"kind: BenchmarkRun", "kind: Pod", []string{`:2: kind is "Pod": loadstone run needs a BenchmarkRun`}, 2},
		"another version":        {"v1alpha1", "v2", []string{`:1: apiVersion is "loadstone.dev/v2": this version of Loadstone reads`}, 2},
		"what the plan refuses":  {"port: 8081", "", []string{":7: spec.implementations[1].port is not set: name the port"}, 2},
		"a rule between fields":  {"baseline: plain", "baseline: other", []string{":8: spec: baseline must be the name of one of the implementations\n"}, 2},
		"an image and a command": {"command: [./costly]", "image: b", []string{", on this machine; a cluster needs images\n"}, 0},
		"a round's objective":    {"  baseline: plain", "  baseline: plain\n  objectives:\n  - {metric: Regression, of: Throughput, min: \"0.9\",\n    against: {lastGood: 3, anchor: plain}}", []string{":11: spec.objectives[0].against.lastGood needs a BenchmarkSuite: make this run a template of one, or name earlier runs in spec.objectives[0].against.runs\n"}, 2},
		"archives":               {"command: [./plain], port: 8080}\n  - {name: costly, command: [./costly]", "image: ./a.tar, port: 8080}\n  - {name: costly, image: ./b.tar", []string{", on this machine; a cluster needs images\n"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			path := written(t, "run.yaml", tc.old, tc.instead)
			out, err := execute(t, "validate", path)
			if tc.status == 0 && err != nil || tc.status != 0 && (err == nil || status(err) != tc.status || err.Error() != "the file is not valid") {
				t.Errorf("it ends with %v, want status %d", err, tc.status)
			}
			for _, want := range tc.want {
				if !strings.Contains(out, want) || !strings.HasPrefix(out, path) {
					t.Errorf("it prints %q, want %q", out, want)
				}
			}
		})
	}
}

// forBoth is a file for a cluster and for this machine, with a part in front of its baseline.
func forBoth(t *testing.T, part string) string {
	t.Helper()
	text := strings.NewReplacer("[./plain]", "[./plain], image: a", "[./costly]", "[./costly], image: b", "  baseline:", part+"  baseline:").Replace(sound)
	path := filepath.Join(t.TempDir(), "run.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestValidateChecksAndCountsProfiles(t *testing.T) {
	const profiles = "  profiles:\n  - {name: costs, tool: callgrind}\n"
	out, err := execute(t, "validate", forBoth(t, profiles))
	if err != nil || !strings.Contains(out, ": valid: 14 trials of 1 cell, plus 2 after the blocks, about ") {
		t.Errorf("it prints %q, %v", out, err)
	}
	var with, without []runfile.Result
	for part, into := range map[string]*[]runfile.Result{profiles: &with, "": &without} {
		out, err := execute(t, "validate", "--output", "json", forBoth(t, part))
		if err = errors.Join(err, json.Unmarshal([]byte(out), into)); err != nil {
			t.Fatal(err)
		}
	}
	long, errLong := time.ParseDuration(with[0].Estimate)
	short, errShort := time.ParseDuration(without[0].Estimate)
	if errLong != nil || errShort != nil || long-short != 2*plan.FollowingEstimate {
		t.Errorf("with profiles it takes %s, without %s", with[0].Estimate, without[0].Estimate)
	}
	for name, file := range map[string]string{
		"for a cluster and this machine": forBoth(t, strings.Replace(profiles, "callgrind", "callgrind, load: none", 1)),
		"for this machine":               written(t, "run.yaml", "  baseline:", strings.Replace(profiles, "callgrind", "callgrind, load: none", 1)+"  baseline:"),
	} {
		if out, err := execute(t, "validate", file); err == nil || status(err) != statusBadInput || !strings.Contains(out, "spec.profiles[0].load is none, which is no load of the run") {
			t.Errorf("a profile of no load %s ends with %v and prints %q", name, err, out)
		}
	}
}

// A file with images is for a cluster, so problems of this machine, such as a missing etcd, do not matter.
func TestValidateReportsClusterProblemsForImages(t *testing.T) {
	var levels []string
	for i := range 20 {
		levels = append(levels, fmt.Sprintf("{connections: %d}", i+1))
	}
	big := fmt.Sprintf("  - {name: big, tool: wrk, durationSeconds: 2, request: {expect: {body: %s}}, levels: [%s]}\n", strings.Repeat("a", 65536), strings.Join(levels, ", "))
	file := forBoth(t, "")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(bytes.TrimSuffix(text, []byte("  blocks: 7\n")), []byte(big+"  blocks: 7\n")...), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := execute(t, "validate", file); err == nil || status(err) != statusBadInput || !strings.Contains(out, "each trial of ") {
		t.Errorf("it ends with %v and prints %.300q", err, out)
	}
}

func TestValidateChecksEveryFile(t *testing.T) {
	good, bad := written(t, "good.yaml", "", ""), written(t, "bad.yaml", "port: 8080", "port: 0")
	out, err := execute(t, "validate", good, bad, "--output", "json")
	if err == nil || status(err) != statusBadInput || err.Error() != "1 of 2 files is not valid" {
		t.Errorf("it ends with %v", err)
	}
	var found []runfile.Result
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		t.Fatal(err)
	}
	if len(found) != 2 || !found[0].Valid || !found[0].Here || found[0].OnCluster || found[1].Valid || found[1].Problems[0].Line != 6 {
		t.Errorf("it finds %+v", found)
	}
	dir := t.TempDir()
	none := filepath.Join(dir, "none.yaml")
	out, err = execute(t, "validate", none, good, bad, dir)
	if err == nil || status(err) != statusBadInput || err.Error() != "3 of 4 files are not valid" {
		t.Errorf("with a missing file it ends with %v", err)
	}
	for _, want := range []string{none + ": no such file\n", good + ": valid: ", bad + ":6: ", dir + ": this is a folder"} {
		if !strings.Contains(out, want) {
			t.Errorf("with a missing file it prints %q, want %q", out, want)
		}
	}
	if out, err := execute(t, "validate", good, "-f", bad); err == nil || !strings.Contains(out, good+": valid: ") || !strings.Contains(out, bad+":6: ") {
		t.Errorf("with -f it prints %q and ends with %v", out, err)
	}
	out, err = execute(t, "validate", none, good, "--output", "json")
	if json.Unmarshal([]byte(out), &found) != nil || len(found) != 2 || found[0].Valid || found[0].File != none || len(found[0].Problems) != 1 || !found[1].Valid || err == nil {
		t.Errorf("for programs it prints %q, %v", out, err)
	}
	if out, err := executeOn(t, strings.NewReader(strings.Replace(sound, "port: 8080", "port: 0", 1)), "validate", "-"); err == nil || !strings.HasPrefix(out, "stdin:6: spec.implementations[0].port: ") {
		t.Errorf("standard input prints %q and ends with %v", out, err)
	}
	if _, err := execute(t, "validate", good, "--output", "xml"); err == nil || !strings.Contains(err.Error(), "choose text, json or yaml") {
		t.Errorf("another format ends with %v", err)
	}
}

const soundSuite = `apiVersion: loadstone.dev/v1alpha1
kind: BenchmarkSuite
metadata: {name: checkout}
spec:
  parameters:
  - {name: image, default: "shop/checkout:main"}
  runs:
  - name: small
    template:
      spec:
        implementations:
        - {name: candidate, image: $(image), port: 8080}
        - {name: anchor, image: "shop/anchor:1.4", port: 8080}
        baseline: anchor
        loads:
        - {name: sweep, tool: wrk, levels: [{connections: 10}], durationSeconds: 2}
        blocks: 7
  - name: large
    template:
      spec:
        implementations:
        - {name: candidate, image: $(image), port: 8080}
        - {name: anchor, image: "shop/anchor:1.4", port: 8081}
        baseline: anchor
        loads:
        - {name: sweep, tool: wrk, levels: [{connections: 100}], durationSeconds: 2}
        blocks: 7
  triggers:
    change: {images: Resolve}
    schedules:
    - {cron: "0 3 * * *", timeZone: Europe/Berlin}
`

func TestValidateReadsSuitesAndTheirTemplates(t *testing.T) {
	for name, tc := range map[string]struct {
		old, instead string
		want         []string
	}{
		"a sound one": {"", "", []string{": valid: 14 trials of 1 cell (small), 14 trials of 1 cell (large), about ", " per round, on a cluster\n"}},
		"a sound one that compares its rounds": {
			"baseline: anchor\n", "baseline: anchor\n        objectives: [{metric: Regression, of: Throughput, min: \"0.95\", against: {lastGood: 5, anchor: anchor}}]\n", []string{": valid: 14 trials of 1 cell (small), "},
		},
		"good rounds and runs": {
			"baseline: anchor\n", "baseline: anchor\n        objectives: [{metric: Regression, of: Throughput, min: \"0.95\", against: {lastGood: 5, runs: [{name: a, uid: 0c9f3f11, manifestSHA256: " + strings.Repeat("a", 64) + "}], anchor: anchor}}]\n", []string{":15: spec.runs[0].template.spec.objectives[0].against: against needs either runs or lastGood"},
		},
		"more good rounds than are known": {
			"baseline: anchor\n", "baseline: anchor\n        objectives: [{metric: Regression, of: Throughput, min: \"0.95\", against: {lastGood: 50, anchor: anchor}}]\n", []string{":15: spec.runs[0].template.spec.objectives[0].against.lastGood: 50 is too large: use at most 20\n"},
		},
		"another anchor": {
			"baseline: anchor\n", "baseline: anchor\n        objectives: [{metric: Regression, of: Throughput, min: \"0.95\", against: {lastGood: 5, anchor: other}}]\n", []string{":15: runs[small].template: spec.objectives[0].against.anchor is other, which is not in spec.implementations"},
		},
		"faults in both templates": {"durationSeconds: 2}\n        blocks", "duration: 2}\n        bloks", []string{
			":16: spec.runs[0].template.spec.loads[0].duration: unknown field: ",
			":17: spec.runs[0].template.spec.bloks: unknown field: did you mean blocks?\n",
			":27: spec.runs[1].template.spec.bloks: unknown field: did you mean blocks?\n",
		}},
		"a value out of bounds":         {"port: 8081", "port: 0", []string{":23: spec.runs[1].template.spec.implementations[1].port: 0 is too small: use at least 1\n"}},
		"a rule between fields":         {"baseline: anchor", "baseline: other", []string{":14: spec.runs[0].template.spec: baseline must be the name of one of the implementations\n"}},
		"a field of the suite":          {"  triggers:", "  trigger:", []string{":28: spec.trigger: unknown field: did you mean triggers?\n"}},
		"what the plan refuses":         {", port: 8080}", "}", []string{":12: runs[small].template: spec.implementations[0].port is not set: name the port", ":22: runs[large].template: spec.implementations[0].port is not set"}},
		"a parameter that is none":      {"$(image)", "$(imag)", []string{":8: runs[small]: the image $(imag) names an unknown parameter: add it to spec.parameters\n", ": some rules were not checked: correct these problems first\n"}},
		"a pattern":                     {"default:", "pattern: \"[a-z]+\", default:", []string{`:6: parameters[image].default is "shop/checkout:main", which does not match its pattern`}},
		"an image that is no reference": {"shop/checkout:main", "Shop/Checkout:main:2", []string{`:10: runs[small].template.spec: the image "Shop/Checkout:main:2" is not a valid reference: `}},
		"a schedule":                    {"0 3 * * *", "0 25 * * *", []string{`:31: triggers.schedules[0].cron "0 25 * * *" is not a schedule: `}},
		"a time zone":                   {"Europe/Berlin", "Europe/Bonn", []string{`:31: triggers.schedules[0].timeZone "Europe/Bonn" is unknown`}},
		"a command without image":       {"image: $(image)", "command: [./a]", []string{":12: runs[small].template: spec.implementations[0].image"}},
		"a second document":             {"spec:\n  parameters", "---\nspec:\n  parameters", []string{":5: a second document starts here: put each suite in a separate file\n"}},
		"a name that is none":           {"name: checkout}", "name: check_out}", []string{`:3: metadata.name is "check_out": `}},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(soundSuite, tc.old) {
				t.Fatalf("%q is not in the file", tc.old)
			}
			text := soundSuite
			if tc.old != "" {
				text = strings.ReplaceAll(text, tc.old, tc.instead)
			}
			path := filepath.Join(t.TempDir(), "suite.yaml")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := execute(t, "validate", path)
			if strings.HasPrefix(name, "a sound one") != (err == nil) || err != nil && status(err) != statusBadInput {
				t.Errorf("it ends with %v", err)
			}
			for _, want := range tc.want {
				if !strings.Contains(out, want) || !strings.HasPrefix(out, path) {
					t.Errorf("it prints %q, want %q", out, want)
				}
			}
		})
	}
}

func TestEverySampleAndSuiteIsValid(t *testing.T) {
	for _, folder := range []string{"samples", "suites", "gitops"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "config", folder, "*.yaml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("there is nothing in %s: %v", folder, err)
		}
		for _, file := range files {
			if slices.Contains([]string{"kustomization.yaml", "webhook.yaml", "pull-secret.yaml", "github.yaml", "github-workflow.yaml"}, filepath.Base(file)) {
				continue // None is of a kind of Loadstone's.
			}
			if out, err := execute(t, "validate", file); err != nil {
				t.Error(out, err)
			}
		}
	}
}
