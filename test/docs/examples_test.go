package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cli/runfile"
)

func TestTheExamplesAreRuns(t *testing.T) {
	for name, page := range pages(t) {
		for _, example := range fenced(page, "yaml") {
			if !strings.Contains(example, "kind: BenchmarkRun") {
				continue
			}
			if _, err := runfile.Parse(t.Context(), []byte(example)); err != nil {
				t.Errorf("%s: %v\n%s", name, err, example)
			}
		}
	}
}

// TestThePipelineWritesTheCommitIntoTheSuite runs what the page says that a pipeline writes, twice: a commit takes the place of the one before.
func TestThePipelineWritesTheCommitIntoTheSuite(t *testing.T) {
	page := pages(t)["docs/reference/benchmarksuite.md"]
	step, suite := regexp.MustCompile(`(?m)^sed --in-place .* suite\.yaml$`).FindString(page), filepath.Join(t.TempDir(), "suite.yaml")
	pulls := fenced(page, "yaml")[1]
	must(t, os.WriteFile(suite, []byte(pulls), 0o600))
	for _, commit := range []string{strings.Repeat("8f", 20), strings.Repeat("12", 20)} {
		c := exec.CommandContext(t.Context(), "bash", "-euc", step)
		c.Dir, c.Env = filepath.Dir(suite), append(os.Environ(), "COMMIT="+commit)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%q ends with %v: %s", step, err, out)
		}
		text, err := os.ReadFile(suite)
		must(t, err)
		var s v1alpha1.BenchmarkSuite
		must(t, yaml.UnmarshalStrict(text, &s))
		if p := s.Spec.Parameters; p[0].Default != "registry.example/checkout:"+commit || p[1].Default != commit || p[2].Default != "none" {
			t.Errorf("the parameters are %+v", p)
		}
	}
}

// links are those to files of the repository, without the part behind the hash.
var links = regexp.MustCompile(`\]\(([^)#: ]+)(#[^)]*)?\)`)

func TestTheLinksOfThePagesLeadSomewhere(t *testing.T) {
	for name, page := range pages(t) {
		for _, m := range links.FindAllStringSubmatch(page, -1) {
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
