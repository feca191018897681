package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// constants returns the values of constants of a type or with a name prefix.
func constants(t *testing.T, file, ofType, prefix string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) == 0 {
			return true
		}
		own, _ := spec.Type.(*ast.Ident)
		text, isText := spec.Values[0].(*ast.BasicLit)
		if !isText || ofType != "" && (own == nil || own.Name != ofType) || !strings.HasPrefix(spec.Names[0].Name, prefix) {
			return true
		}
		if value, err := strconv.Unquote(text.Value); err == nil {
			found[value] = true
		}
		return true
	})
	return slices.Sorted(maps.Keys(found))
}

// rows returns the table rows of a section by the code in the first cell.
func rows(page, section string) map[string][]string {
	_, rest, _ := strings.Cut(page, "\n## "+section+"\n")
	text, _, _ := strings.Cut(rest, "\n## ")
	out := map[string][]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (.*) \\|$").FindAllStringSubmatch(text, -1) {
		out[m[1]] = strings.Split(m[2], " | ")
	}
	return out
}

func TestEveryReasonHasARowThatSaysWhatToDo(t *testing.T) {
	page := pages(t)["docs/reference/reasons.md"] + pages(t)["docs/reference/findings.md"]
	for section, want := range map[string][]string{
		"Runs and trials": constants(t, "api/v1alpha1/conditions.go", "", "Reason"),
		"Comparisons":     constants(t, "internal/analysis/verdict/comparison.go", "Reason", ""),
		"Cells":           constants(t, "internal/analysis/validity/reasons.go", "Code", ""),
	} {
		listed := rows(page, section)
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(listed))); diff != "" || len(want) == 0 {
			t.Errorf("%s (-code +page):\n%s", section, diff)
		}
		for code, cells := range listed {
			if slices.Contains(cells, "") {
				t.Errorf("%s: the row of %s has an empty cell", section, code)
			}
		}
	}
}

func TestThePageNamesTheOriginOfEveryReason(t *testing.T) {
	origins := map[string]v1alpha1.Origin{
		"none": v1alpha1.OriginNone, "implementation": v1alpha1.OriginImplementation, "setup": v1alpha1.OriginSetup, "load": v1alpha1.OriginLoad, "infrastructure": v1alpha1.OriginInfrastructure,
	}
	for code, cells := range rows(pages(t)["docs/reference/reasons.md"], "Runs and trials") {
		if got := origins[cells[0]]; got != v1alpha1.OriginOf(code) {
			t.Errorf("the page says that %s is of %s, and the code says otherwise", code, cells[0])
		}
	}
}
