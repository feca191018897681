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
	// ofAKind is a name by which code says of which kind of work something is: a type, a member of a spec, a plan or a record, or what a member has.
	ofAKind = regexp.MustCompile(`^(Type)?(Sweep|Microbenchmark|Profile)$|^(Profiles|Profiled|ProfiledRun|Profiling|ProfileType)$`)
	// folderOfAKind is an import of the folder of a kind.
	folderOfAKind = regexp.MustCompile(`^"` + module + `internal/kind/(sweep|microbenchmark|profile)"$`)
	// closed is the sentence of the design that lists which other packages name kinds.
	closed = regexp.MustCompile(`Beside their own folders, kinds are named in [^.]*[.]`)
)

// namesKinds reports what of a file names a kind of work; empty if nothing does.
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
				found = name // What callgrind writes is called a profile, too, and is no kind.
			}
		}
		return true
	})
	return found
}

// endsInSpec reports whether an expression is the spec of something. The loads of a spec ask for a sweep; those of a comparison are what it compares.
func endsInSpec(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "spec"
	case *ast.SelectorExpr:
		return e.Sel.Name == "Spec"
	}
	return false
}

// A kind is a folder. What else names one has to be changed for the next one, or forgets it: so the design lists it, with its reason.
func TestNothingElseNamesAKindOfWork(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "design.md"))
	if err != nil {
		t.Fatal(err)
	}
	may := named(closed.FindString(string(text)))
	if len(may) == 0 {
		t.Fatal("docs/design.md does not say where kinds are named")
	}
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
		if !slices.Contains(may, name) {
			t.Errorf("%s names a kind of work, in %s: ask the kind or its work, or let docs/design.md say why not", name, where)
		}
	}
	for _, name := range may {
		if found[name] == "" {
			t.Errorf("docs/design.md says that %s names kinds of work, and it does not", name)
		}
	}
}

func TestWhatNamesAKindIsFound(t *testing.T) {
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
