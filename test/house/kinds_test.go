package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// ofAKind matches names of kinds of work: types, and fields of a spec, plan or record.
	ofAKind = regexp.MustCompile(`^(Type)?(Sweep|Microbenchmark|Profile)$|^(Profiles|Profiled|Profiling|ProfileType)$`)
	// folderOfAKind matches an import of a kind's folder.
	folderOfAKind = regexp.MustCompile(`^"` + module + `internal/trial/kind/(sweep|microbenchmark|profile)"$`)
)

// mayNameKinds lists packages outside the kinds' folders that may name a kind, and why. All others ask the kind.
var mayNameKinds = map[string]string{
	"internal/trial/kind/kinds": "it lists the kinds",
	"internal/agent/role":       "an agent measures a profile",
	"internal/agent/program":    "it measures a profile",
	"internal/profiler":         "it parses what profilers write",
	"internal/analysis":         "a profile is more than rows",
	"internal/report":           "a profile has a section",
	"internal/report/phrase":    "sentences about profiles",
	"internal/report/profiles":  "the section of profiles",
	"controllers/inputs":        "it reads the scripts of loads",
	"internal/local":            "it reads the scripts of loads",
	"internal/ui":               "it shows the loads of a run",
}

// namesKinds returns a kind's name found in a file; empty if there is none.
func namesKinds(t *testing.T, file string) string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := ""
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			if folderOfAKind.MatchString(n.Path.Value) {
				found = n.Path.Value
			}
		case *ast.SelectorExpr:
			own, _ := n.X.(*ast.Ident)
			if name := n.Sel.Name; ofAKind.MatchString(name) && (own == nil || own.Name != "callgrind") || name == "Loads" && endsInSpec(n.X) {
				found = name // callgrind's output is also called a profile.
			}
		}
		return true
	})
	return found
}

// endsInSpec reports whether an expression is a spec. Loads of a spec name a sweep; those of a comparison do not.
func endsInSpec(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "spec"
	case *ast.SelectorExpr:
		return e.Sel.Name == "Spec"
	}
	return false
}

// A kind is a folder. Other code that names a kind must change for each new kind.
func TestOnlyListedPackagesNameAKindOfWork(t *testing.T) {
	found := map[string]string{}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		top, _, _ := strings.Cut(name, "/")
		if !slices.Contains([]string{"api", "cmd", "controllers", "internal"}, top) || strings.HasSuffix(name, "test") || folderOfAKind.MatchString(`"`+p.ImportPath+`"`) {
			continue
		}
		for _, f := range p.GoFiles {
			if what := namesKinds(t, filepath.Join(p.Dir, f)); what != "" && !strings.HasPrefix(f, "zz_generated") {
				found[name] = f + " (" + what + ")"
			}
		}
	}
	for name, where := range found {
		if mayNameKinds[name] == "" {
			t.Errorf("%s names a kind of work in %s: ask the kind instead, or add the package to mayNameKinds with its reason", name, where)
		}
	}
	for name := range mayNameKinds {
		if found[name] == "" {
			t.Errorf("%s names no kind of work: remove it from mayNameKinds", name)
		}
	}
}

func TestNamesOfKindsAreFound(t *testing.T) {
	for body, want := range map[string]string{
		`if t.Spec.Type == v1alpha1.TypeSweep {}`:   "TypeSweep",
		`_ = len(s.Run.Spec.Loads) == 0`:            "Loads",
		`_ = plan.Profiles`:                         "Profiles",
		`_ = record.ProfileType`:                    "ProfileType",
		`for range comparison.Loads {}`:             "",
		`_ = callgrind.Profile{}`:                   "",
		`_ = kinds.All[record.WorkType(spec.Type)]`: "",
	} {
		file := filepath.Join(t.TempDir(), "a.go")
		if err := os.WriteFile(file, []byte("package a\n\nfunc f() { "+body+" }\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := namesKinds(t, file); got != want {
			t.Errorf("in %s it finds %q, want %q", body, got, want)
		}
	}
}
