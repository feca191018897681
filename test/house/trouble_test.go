package house

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	testName    = regexp.MustCompile("`(?:([a-z0-9]+)[.])?(Test[A-Za-z0-9]+)`")
	testOfCode  = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9]+)\(`)
	tableOfPage = regexp.MustCompile(`(?s)<!-- (faults|deeds): begin -->(.*?)<!-- (?:faults|deeds): end -->`)
)

// faults is the number of rows in docs/explanation/failures.md.
const faults = 42

// testsOf maps test names to their folders.
func testsOf(t *testing.T, root string) map[string][]string {
	t.Helper()
	there := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		code, err := os.ReadFile(path)
		for _, found := range testOfCode.FindAllSubmatch(code, -1) {
			there[string(found[1])] = append(there[string(found[1])], filepath.Base(filepath.Dir(path)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return there
}

// unnamed explains what is wrong with a test name on a page; empty if exactly one test has it.
func unnamed(there map[string][]string, folder, name string) string {
	switch in := there[name]; {
	case len(in) == 0, folder != "" && !slices.Contains(in, folder):
		return "no test is called so"
	case folder == "" && len(in) > 1:
		return fmt.Sprintf("%s have one: write which", strings.Join(in, " and "))
	}
	return ""
}

func TestDetectsUnknownAndAmbiguousTestNames(t *testing.T) {
	there := map[string][]string{"TestA": {"controllers"}, "TestB": {"conduct", "suite"}}
	for name, want := range map[[2]string]string{
		{"", "TestA"}: "", {"controllers", "TestA"}: "", {"conduct", "TestB"}: "", {"", "TestC"}: "no test is called so",
		{"suite", "TestA"}: "no test is called so", {"", "TestB"}: "conduct and suite have one: write which",
	} {
		if got := unnamed(there, name[0], name[1]); got != want {
			t.Errorf("of %v it says %q, want %q", name, got, want)
		}
	}
}

func TestThePageOfFaultsNamesTestsThatExist(t *testing.T) {
	root := filepath.Join("..", "..")
	there := testsOf(t, root)
	page, err := os.ReadFile(filepath.Join(root, "docs", "explanation", "failures.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range testName.FindAllStringSubmatch(string(page), -1) {
		if wrong := unnamed(there, name[1], name[2]); wrong != "" {
			t.Errorf("docs/explanation/failures.md names %s, and %s", name[0], wrong)
		}
	}
	tables := map[string]string{}
	for _, found := range tableOfPage.FindAllStringSubmatch(string(page), -1) {
		tables[found[1]] = found[2]
	}
	if rows := len(rowsOf(tables["faults"])); rows != faults {
		t.Errorf("the table has %d faults, want %d", rows, faults)
	}
	if len(rowsOf(tables["deeds"])) == 0 {
		t.Error("the table of what somebody does is empty")
	}
	for _, table := range tables {
		for _, row := range rowsOf(table) {
			if !testName.MatchString(row) && !strings.Contains(row, "not tested") {
				t.Errorf("this has neither a test nor says that it is not tested: %s", row)
			}
		}
	}
}

// rowsOf returns a table's rows without the head.
func rowsOf(table string) []string {
	var rows []string
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "| ") {
			rows = append(rows, line)
		}
	}
	return rows[min(1, len(rows)):]
}
