package workloads_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var link = regexp.MustCompile(`\]\(([^)]+)\)`)

func TestTheIndexNamesEveryWorkloadAndLeadsToWhatIsThere(t *testing.T) {
	index, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range link.FindAllStringSubmatch(string(index), -1) {
		if _, err := os.Stat(found[1]); err != nil {
			t.Errorf("the index leads to nothing: %v", err)
		}
	}
	pages, err := filepath.Glob("*/README.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("there are %d pages: %v", len(pages), err)
	}
	for _, page := range pages {
		if name := filepath.Dir(page); !strings.Contains(string(index), "]("+name+")") {
			t.Errorf("the index does not name %s", name)
		}
	}
}
