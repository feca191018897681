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
	tableOfPage = regexp.MustCompile(`(?s)<!-- (faults|deeds): begin -->(.*?)<!-- (?:faults|deeds): end -->`)
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
			if !strings.Contains(row, "`Test") && !strings.Contains(row, "not tested") {
				t.Errorf("this has neither a test nor says that it is not tested: %s", row)
			}
		}
	}
}

// rowsOf are the rows of a table, without its head.
func rowsOf(table string) []string {
	var rows []string
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "| ") {
			rows = append(rows, line)
		}
	}
	return rows[min(1, len(rows)):]
}
