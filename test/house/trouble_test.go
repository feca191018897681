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
	testName    = regexp.MustCompile("`(?:([a-z0-9]+)[.])?((?:Test|Fuzz)[A-Za-z0-9]+)`")
	testOfCode  = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9]+)\(`)
	tableOfPage = regexp.MustCompile(`(?s)<!-- (faults|deeds|sandbox|threats): begin -->(.*?)<!-- (?:faults|deeds|sandbox|threats): end -->`)
)

// faults is the number of rows in docs/explanation/failures.md.
const faults = 41

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

// unnamed explains why a test name on a page is wrong; empty if exactly one test has it.
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

// tablesOf returns the tables of a page by name. It is an error if the page names a test that is not there.
func tablesOf(t *testing.T, page string) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	there := testsOf(t, root)
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(page)))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range testName.FindAllStringSubmatch(string(text), -1) {
		if wrong := unnamed(there, name[1], name[2]); wrong != "" {
			t.Errorf("%s names %s, and %s", page, name[0], wrong)
		}
	}
	tables := map[string]string{}
	for _, found := range tableOfPage.FindAllStringSubmatch(string(text), -1) {
		tables[found[1]] = found[2]
	}
	return tables
}

func TestSandboxPageNamesATestInEachRow(t *testing.T) {
	rows := rowsOf(tablesOf(t, "docs/explanation/sandbox.md")["sandbox"])
	if len(rows) == 0 {
		t.Error("the table is empty")
	}
	for _, row := range rows {
		if !testName.MatchString(row) {
			t.Errorf("this row has no test: %s", row)
		}
	}
}

func TestThePageOfFaultsNamesTestsThatExist(t *testing.T) {
	tables := tablesOf(t, "docs/explanation/failures.md")
	if rows := len(rowsOf(tables["faults"])); rows != faults {
		t.Errorf("the table has %d faults, want %d", rows, faults)
	}
	if len(rowsOf(tables["deeds"])) == 0 {
		t.Error("the table of what somebody does is empty")
	}
	for _, table := range tables {
		wantTests(t, rowsOf(table))
	}
}

func TestThreatModelNamesTests(t *testing.T) {
	rows := rowsOf(tablesOf(t, "docs/explanation/threat-model.md")["threats"])
	if len(rows) == 0 {
		t.Error("the table of threats is empty")
	}
	wantTests(t, rows)
}

// wantTests expects a test in each row, or the words that there is none.
func wantTests(t *testing.T, rows []string) {
	t.Helper()
	for _, row := range rows {
		if !testName.MatchString(row) && !strings.Contains(row, "not tested") {
			t.Errorf("this has neither a test nor says that it is not tested: %s", row)
		}
	}
}

// rowsOf returns the rows of tables without their heads.
func rowsOf(tables string) []string {
	var rows []string
	for line := range strings.Lines(tables) {
		switch {
		case strings.HasPrefix(line, "| "):
			rows = append(rows, line)
		case strings.HasPrefix(line, "|---"):
			rows = rows[:max(0, len(rows)-1)]
		}
	}
	return rows
}
