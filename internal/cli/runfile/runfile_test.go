package runfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const good = `# A comment.
apiVersion: loadstone.dev/v1alpha1
kind: BenchmarkRun
metadata:
  name: quick
spec:
  implementations:
  - {name: plain, command: [./plain], port: 8080}
  - {name: costly, command: [./costly], port: 8081}
  baseline: plain
  loads:
  - {name: sweep, tool: wrk, levels: [{connections: 10}]}
`

func TestParseValidFile(t *testing.T) {
	for name, text := range map[string]string{"as it is": good, "with separators": "---\n" + good + "---\n# The end.\n"} {
		t.Run(name, func(t *testing.T) {
			file, err := Parse(t.Context(), []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			run := file.Run
			if run.Name != "quick" || len(run.Spec.Implementations) != 2 || run.Spec.Implementations[1].Command[0] != "./costly" {
				t.Errorf("it reads %+v", run)
			}
		})
	}
}

func TestInvalidFileIsRefused(t *testing.T) {
	for name, tc := range map[string]struct{ old, instead, want string }{
		"another kind":           {"kind: BenchmarkRun", "kind: Deployment", `line 3: kind is "Deployment": loadstone run needs a BenchmarkRun`},
		"no kind":                {"kind: BenchmarkRun\n", "", "kind is missing: add kind: BenchmarkRun"},
		"neither kind nor API":   {"apiVersion: loadstone.dev/v1alpha1\nkind: BenchmarkRun\n", "", "kind is missing: add kind: BenchmarkRun; line 2: apiVersion is missing: add apiVersion: loadstone.dev/v1alpha1"},
		"another version":        {"v1alpha1", "v2", `line 2: apiVersion is "loadstone.dev/v2": this version of Loadstone reads "loadstone.dev/v1alpha1"`},
		"a second document":      {"spec:", "spec: {}\n---\nspec:", "line 8: a second document starts here"},
		"a tab":                  {"  baseline", "\tbaseline", "line 10: indented with a tab, which YAML does not allow: use spaces"},
		"nothing":                {good, "# Nothing.\n", "the file is empty"},
		"no YAML":                {"baseline: plain", "baseline: [", "line 11: invalid YAML: did not find expected"},
		"a field twice":          {"baseline: plain", "baseline: plain\n  baseline: costly", `line 11: key "baseline" already set: set each field once`},
		"a field that is none":   {"baseline:", "baselin: plain\n  baseline:", "line 10: spec.baselin: unknown field: did you mean baseline?"},
		"a value out of bounds":  {"port: 8081", "port: 0", "line 9: spec.implementations[1].port: 0 is too small: use at least 1"},
		"a rule of the API":      {"baseline: plain", "baseline: other", "line 10: spec: baseline must be the name of one of the implementations"},
		"a name that is used":    {"name: costly", "name: plain", "line 9: spec.implementations[1]: an earlier item also has name \"plain\": change or remove one"},
		"a name that is no name": {"name: quick", "name: quick_1", `line 5: metadata.name is "quick_1"`},
		"an unknown tool":        {"tool: wrk", "tool: hammer", `line 12: spec.loads[0].tool: unknown value "hammer": choose from wrk, ab, k6, vegeta`},
		"a fraction of a block":  {"baseline:", "blocks: 1.5\n  baseline:", "spec.blocks: 1.5 is a number, not an integer: write a whole number, such as 10; some rules"},
		"neither way to start":   {"command: [./plain], ", "", "line 8: spec.implementations[0]: an implementation needs an image, or (on one machine) a command"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(good, tc.old) {
				t.Fatalf("%q is not in the file", tc.old)
			}
			_, err := Parse(t.Context(), []byte(strings.Replace(good, tc.old, tc.instead, 1)))
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("it ends with %v\nwant one line with %q", err, tc.want)
			}
		})
	}
}

func TestUnreadableFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "this is a folder: name the YAML file") {
		t.Errorf("a folder ends with %v", err)
	}
	if _, err := Open(t.Context(), filepath.Join(dir, "none.yaml")); err == nil || err.Error() != filepath.Join(dir, "none.yaml")+": no such file" {
		t.Errorf("a missing file ends with %v", err)
	}
	path := filepath.Join(dir, "run.yaml")
	if err := os.WriteFile(path, []byte("kind: Pod\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path); err == nil || !strings.HasPrefix(err.Error(), path+": ") {
		t.Errorf("the error %v does not begin with the file", err)
	}
}

func TestParseEverySample(t *testing.T) {
	samples, err := filepath.Glob("../../../config/samples/*.yaml")
	if err != nil || len(samples) == 0 {
		t.Fatalf("there is no sample: %v", err)
	}
	for _, path := range samples {
		if filepath.Base(path) == "kustomization.yaml" {
			continue
		}
		if _, err := Open(t.Context(), path); err != nil {
			t.Error(err)
		}
	}
}
