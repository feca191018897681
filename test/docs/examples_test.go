package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/runfile"
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
