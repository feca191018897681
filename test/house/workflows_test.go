package house

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// A pinned action has its whole commit, and its version for readers.
var (
	action = regexp.MustCompile(`\buses: *(\S+)(.*)`)
	pinned = regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
)

// job is a job of a workflow.
type job struct {
	// Uses is another workflow.
	Uses        string
	Permissions map[string]string
	Environment string
	Strategy    struct {
		Matrix struct{ Part []string }
	}
}

// workflow is a file of .github/workflows.
type workflow struct {
	Permissions map[string]string
	Jobs        map[string]job
}

func readWorkflow(t *testing.T, path string) (workflow, string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var w workflow
	if err := yaml.Unmarshal(text, &w); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return w, string(text)
}

func TestWorkflowsPinActionsAndWriteOnlyReleases(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "..", ".github", "workflows", "*.yml"))
	if err != nil || len(paths) < 2 {
		t.Fatalf("there are %d workflows: %v", len(paths), err)
	}
	for _, path := range paths {
		w, text := readWorkflow(t, path)
		used := action.FindAllStringSubmatch(text, -1)
		if len(used) == 0 {
			t.Errorf("%s uses no action", path)
		}
		for _, u := range used {
			if !strings.HasPrefix(u[1], "./") && !pinned.MatchString(u[1]+u[2]) {
				t.Errorf("%s: %s%s is not pinned: write NAME@COMMIT # vVERSION", path, u[1], u[2])
			}
		}
		if w.Permissions == nil {
			t.Errorf("%s has no permissions: its token could write", path)
		}
		for name, j := range w.Jobs {
			all := maps.Clone(w.Permissions)
			maps.Copy(all, j.Permissions)
			for right, level := range all {
				if level != "read" && (filepath.Base(path) != "release.yml" || name != "publish" || right != "contents") {
					t.Errorf("%s: the job %s has %s: %s", path, name, right, level)
				}
			}
			if strings.Contains(text, "secrets.") && j.Uses == "" && j.Environment == "" {
				t.Errorf("%s: the job %s has no environment that protects its secrets", path, name)
			}
		}
	}
}

func TestWorkflowRunsEachPartOfContinuousIntegration(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	parts := regexp.MustCompile(`\|\| set -- (.*)`).FindSubmatch(text)
	if parts == nil {
		t.Fatal(".ci/run has no parts")
	}
	w, _ := readWorkflow(t, filepath.Join("..", "..", ".github", "workflows", "ci.yml"))
	got := slices.Sorted(slices.Values(w.Jobs["run"].Strategy.Matrix.Part))
	if diff := cmp.Diff(slices.Sorted(slices.Values(strings.Fields(string(parts[1])))), got); diff != "" {
		t.Errorf("-.ci/run +ci.yml:\n%s", diff)
	}
}
