package house

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	testName    = regexp.MustCompile("`(Test[A-Za-z0-9]+)`")
	testOfCode  = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9]+)\(`)
	tableOfPage = regexp.MustCompile(`(?s)<!-- faults: begin -->(.*)<!-- faults: end -->`)
)

// faults is how many the table of docs/trouble.md has.
const faults = 42

func TestThePageOfFaultsNamesTestsThatExist(t *testing.T) {
	root := filepath.Join("..", "..")
	there := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		code, err := os.ReadFile(path)
		for _, found := range testOfCode.FindAllSubmatch(code, -1) {
			there[string(found[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "trouble.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range testName.FindAllStringSubmatch(string(page), -1) {
		if !there[name[1]] {
			t.Errorf("docs/trouble.md names %s, and no test is called so", name[1])
		}
	}
	table := tableOfPage.FindString(string(page))
	if rows := strings.Count(table, "\n| ") - 1; rows != faults {
		t.Errorf("the table has %d faults, want %d", rows, faults)
	}
	for _, row := range strings.Split(table, "\n") {
		if strings.HasPrefix(row, "| ") && !strings.Contains(row, "`Test") && !strings.Contains(row, "not tested") && !strings.HasPrefix(row, "| # ") {
			t.Errorf("this fault has neither a test nor says that it is not tested: %s", row)
		}
	}
}
