package v1alpha1_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// pages are the pages in docs/reference that describe the kinds, by the plural of the kind.
var pages = map[string]string{"benchmarkruns": "benchmarkrun.md", "benchmarksuites": "benchmarksuite.md", "trials": "trial.md"}

func fromRoot(t *testing.T, path ...string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// fenced are the blocks of a page in one language.
func fenced(page, language string) []string {
	var blocks []string
	for _, rest := range strings.Split(page, "\n```"+language+"\n")[1:] {
		block, _, _ := strings.Cut(rest, "\n```")
		blocks = append(blocks, block)
	}
	return blocks
}

// keys are the words in the first column of the table in a section of a page.
func keys(t *testing.T, page, section string) []string {
	t.Helper()
	_, rest, found := strings.Cut(page, "\n## "+section+"\n")
	if !found {
		t.Fatalf("the page has no section %s", section)
	}
	text, _, _ := strings.Cut(rest, "\n## ")
	var list []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)`").FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}

// reasonsOf are the words in code of the table of conditions that are no conditions.
func reasonsOf(page string) []string {
	_, rest, _ := strings.Cut(page, "\n## Conditions\n")
	text, _, _ := strings.Cut(rest, "\n## ")
	var list []string
	for _, row := range strings.Split(text, "\n| `")[1:] {
		row, _, _ = strings.Cut(row, "\n")
		for _, m := range regexp.MustCompile("`([A-Z]\\w+)`").FindAllStringSubmatch(row, -1) {
			list = append(list, m[1])
		}
	}
	return list
}

func TestDocumentedExamplesAreAccepted(t *testing.T) {
	c := apiServer(t)
	files, err := filepath.Glob(filepath.Join("..", "..", "docs", "*", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	accepted := map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, example := range fenced(string(text), "yaml") {
			if !strings.HasPrefix(example, "apiVersion: loadstone.dev/") {
				continue // a part of an object, or a pipeline
			}
			o := parse(t, []byte(example))
			if o.GetNamespace() == "" {
				o.SetNamespace("default")
			}
			if err := create(t, c, o); err != nil {
				t.Errorf("%s: %v\n%s", file, err, example)
			}
			accepted[filepath.Base(file)]++
		}
	}
	for _, file := range pages {
		if accepted[file] == 0 {
			t.Errorf("%s has no example", file)
		}
	}
	if len(accepted) < 10 {
		t.Errorf("only %d pages have examples: %v", len(accepted), accepted)
	}
}

func TestDocsExplainEveryColumn(t *testing.T) {
	for plural, file := range pages {
		var definition struct {
			Spec struct {
				Versions []struct {
					Columns []struct {
						Name string `json:"name"`
					} `json:"additionalPrinterColumns"`
				} `json:"versions"`
			} `json:"spec"`
		}
		if err := yaml.Unmarshal([]byte(fromRoot(t, "config", "crd", "bases", "loadstone.dev_"+plural+".yaml")), &definition); err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, column := range definition.Spec.Versions[0].Columns {
			want = append(want, column.Name)
		}
		if diff := cmp.Diff(want, keys(t, fromRoot(t, "docs", "reference", file), "Columns")); diff != "" {
			t.Errorf("%s has other columns (-CRD +page):\n%s", file, diff)
		}
	}
}

// TestEveryReasonHasARowThatSaysWhatToDo of test/docs does the same for reasons.
func TestDocsExplainEveryCondition(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "conditions.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	explained := map[string]bool{}
	for _, page := range pages {
		text := fromRoot(t, "docs", "reference", page)
		for _, condition := range keys(t, text, "Conditions") {
			explained["Condition"+condition] = true
		}
		for _, code := range reasonsOf(text) {
			if v1alpha1.OriginOf(code) == 0 {
				t.Errorf("%s names %s, which is no reason of the API", page, code)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(spec.Names[0].Name, "Condition") && !explained["Condition"+value] {
			t.Errorf("no page explains %s", spec.Names[0].Name)
		}
		return false
	})
}

// Other projects have a kind of that name, so that a bare name can mean theirs.
func TestCommandsUseFullResourceNameOfTrials(t *testing.T) {
	bare := regexp.MustCompile(`\bkubectl\b.*[ ,]trials?([ ,/]|$)`)
	texts := map[string]string{"README.md": fromRoot(t, "README.md")}
	for _, file := range pages {
		texts[file] = fromRoot(t, "docs", "reference", file)
	}
	for name, text := range texts {
		for _, commands := range fenced(text, "bash") {
			for line := range strings.SplitSeq(commands, "\n") {
				if bare.MatchString(line) {
					t.Errorf("%s names a Trial without its group: %s", name, line)
				}
			}
		}
	}
}
