package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const (
	module = "loadstone.dev/loadstone/"
	// maxFolders keeps internal small enough for newcomers.
	maxFolders = 18
	// A package needs this many importers (tests count), or this many lines without tests.
	minImporters, minLines = 2, 300
)

// listed is a package in the output of go list.
type listed struct {
	ImportPath, Dir, Name      string
	GoFiles, Imports           []string
	TestGoFiles, TestImports   []string
	XTestGoFiles, XTestImports []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	c := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Dir,Name,GoFiles,Imports,TestGoFiles,TestImports,XTestGoFiles,XTestImports", module+"...")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// lines counts the hand-written lines of a package without its tests.
func lines(t *testing.T, p listed) int {
	t.Helper()
	n := 0
	for _, f := range p.GoFiles {
		text, err := os.ReadFile(filepath.Join(p.Dir, f))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(f, "zz_generated") {
			n += bytes.Count(text, []byte("\n"))
		}
	}
	return n
}

func TestInternalHasFewFolders(t *testing.T) {
	entries, err := os.ReadDir(filepath.Join("..", "..", "internal"))
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(filepath.Join("..", "..", "internal", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	folders := 0
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		folders++
		if !strings.Contains(string(table), "\n| `"+e.Name()+"` |") {
			t.Errorf("internal/README.md does not say which part of the system internal/%s is", e.Name())
		}
	}
	if folders > maxFolders {
		t.Errorf("internal has %d folders, the limit is %d: put the new package below the folder whose part of the system it is", folders, maxFolders)
	}
}

func TestEveryPackageIsImportedTwiceOrLargeOrAProgram(t *testing.T) {
	all := packages(t)
	importers := map[string]map[string]bool{}
	for _, p := range all {
		for _, i := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if i == p.ImportPath {
				continue
			}
			if importers[i] == nil {
				importers[i] = map[string]bool{}
			}
			importers[i][p.ImportPath] = true
		}
	}
	for _, p := range all {
		name := strings.TrimPrefix(p.ImportPath, module)
		top, _, _ := strings.Cut(name, "/")
		if p.Name == "main" || !slices.Contains([]string{"api", "controllers", "internal"}, top) {
			continue
		}
		if n, size := len(importers[p.ImportPath]), lines(t, p); n < minImporters && size < minLines {
			t.Errorf("%s has %d lines and %d importers: move it into the package that uses it", name, size, n)
		}
	}
}

// purity returns the patterns of pure files and their exceptions from the linter's settings.
func purity(t *testing.T) (pure, but []*regexp.Regexp) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", ".golangci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Linters struct {
			Settings struct {
				Depguard struct {
					Rules map[string]struct {
						Files []string `json:"files"`
					} `json:"rules"`
				} `json:"depguard"`
			} `json:"settings"`
		} `json:"linters"`
	}
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	for _, p := range c.Linters.Settings.Depguard.Rules["pure"].Files {
		if p == "!$test" {
			continue
		}
		if rest, out := strings.CutPrefix(p, "!"); out {
			but = append(but, glob(rest))
		} else {
			pure = append(pure, glob(p))
		}
	}
	if len(pure) == 0 {
		t.Fatal("the linter keeps nothing pure")
	}
	return pure, but
}

// glob translates a depguard pattern: ** matches folders, * a part of a name, {a,b} either.
func glob(pattern string) *regexp.Regexp {
	s := regexp.QuoteMeta(strings.TrimPrefix(pattern, "**/"))
	s = strings.NewReplacer(`\*\*`, `.*`, `\*`, `[^/]*`, `\{`, `(`, `\}`, `)`, `,`, `|`).Replace(s)
	return regexp.MustCompile("^" + s + "$")
}

// isPure reports whether all files of a package are pure. APIs have only types and rules.
func isPure(p listed, pure, but []*regexp.Regexp) bool {
	name := strings.TrimPrefix(p.ImportPath, module)
	return name == "api/v1alpha1" || len(p.GoFiles) > 0 && !slices.ContainsFunc(p.GoFiles, func(f string) bool {
		matches := func(r *regexp.Regexp) bool { return r.MatchString(path.Join(name, f)) }
		return !slices.ContainsFunc(pure, matches) || slices.ContainsFunc(but, matches)
	})
}

// The linter only checks direct imports. This test also checks imports through other packages.
func TestPurePackagesImportOnlyPurePackages(t *testing.T) {
	pure, but := purity(t)
	all := packages(t)
	of := map[string]bool{}
	count := 0
	for _, p := range all {
		if of[p.ImportPath] = isPure(p, pure, but); of[p.ImportPath] {
			count++
		}
	}
	if count < 40 {
		t.Fatalf("only %d packages match the linter's patterns of pure files", count)
	}
	for _, p := range all {
		if !of[p.ImportPath] {
			continue
		}
		for _, i := range p.Imports {
			if strings.HasPrefix(i, module) && !of[i] {
				t.Errorf("%s is pure, but imports %s, which is not", p.ImportPath, i)
			}
		}
	}
}
