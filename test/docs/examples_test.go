package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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

// TestThePipelineWritesTheCommitIntoTheSuite runs the pipeline's commands twice: the second commit must replace the first.
func TestThePipelineWritesTheCommitIntoTheSuite(t *testing.T) {
	page := pages(t)["docs/how-to/pull-requests.md"]
	step, suite := regexp.MustCompile(`(?m)^sed --in-place .* suite\.yaml$`).FindString(page), filepath.Join(t.TempDir(), "suite.yaml")
	pulls := fenced(page, "yaml")[0]
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

var (
	// links are those to files and headings of the repository.
	links    = regexp.MustCompile(`\]\(([^)#: ]*)(?:#([^)]*))?\)`)
	headings = regexp.MustCompile("(?m)^#+ (.*)$")
	unlinked = regexp.MustCompile(`[^\w\- ]`)
)

// anchors are a page's headings in the form of link targets.
func anchors(page string) []string {
	var all []string
	for _, m := range headings.FindAllStringSubmatch(page, -1) {
		all = append(all, strings.ReplaceAll(unlinked.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return all
}

func TestTheLinksOfThePagesLeadSomewhere(t *testing.T) {
	for name, page := range pages(t) {
		for _, m := range links.FindAllStringSubmatch(page, -1) {
			path := filepath.Join(root, filepath.Dir(name), m[1])
			if m[1] == "" {
				path = filepath.Join(root, name)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if m[2] == "" || filepath.Ext(path) != ".md" {
				continue
			}
			target, err := os.ReadFile(path)
			must(t, err)
			if !slices.Contains(anchors(string(target)), m[2]) {
				t.Errorf("%s: %s has no heading #%s", name, m[1], m[2])
			}
		}
	}
}
