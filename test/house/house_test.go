package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const (
	module = "loadstone.dev/loadstone/"
	// mostLines is how many lines a package may have without its tests and without what is generated.
	mostLines = 2000
	// mostOfAPI is how many a version of the API may have: it cannot be split, and most of its lines are the comments of docs/reference.md.
	mostOfAPI = 3300
	// leastPure is the least share of the programs' lines that are in files without I/O, and leastTested the least number of lines of tests to a line of code.
	leastPure, leastTested = 0.7, 0.8
	// mostOfFunctions is how many lines 99 of a hundred functions may have; the linter holds the longest.
	mostOfFunctions = 50
)

// listed is a package as go list prints it.
type listed struct {
	ImportPath, Dir                             string
	GoFiles, Imports, TestGoFiles, XTestGoFiles []string
}

// packages are those of the project.
func packages(t *testing.T) []listed {
	t.Helper()
	c := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Dir,GoFiles,Imports,TestGoFiles,XTestGoFiles", module+"...")
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

// patterns are the files that the linter keeps pure, and those of them that it leaves out.
func patterns(t *testing.T) (pure, but []string) {
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
		if rest, out := strings.CutPrefix(p, "!"); out {
			but = append(but, strings.TrimPrefix(rest, "**/"))
		} else {
			pure = append(pure, strings.TrimPrefix(p, "**/"))
		}
	}
	if len(pure) == 0 {
		t.Fatal("the linter keeps nothing pure")
	}
	return pure, but
}

// isPure reports whether the linter keeps a package pure. An API is types and rules.
func isPure(name string, pure []string) bool {
	return name == "api/v1alpha1" || slices.ContainsFunc(pure, func(p string) bool {
		below, deep := strings.CutSuffix(p, "/**/*.go")
		return deep && (name == below || strings.HasPrefix(name, below+"/")) || name == strings.TrimSuffix(p, "/*.go")
	})
}

// The linter looks at the imports of a file. A package that imports one which does I/O can do it, too.
func TestPurePackagesImportPureOnes(t *testing.T) {
	pure, but := patterns(t)
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if !isPure(name, pure) {
			continue
		}
		if slices.ContainsFunc(but, func(f string) bool { return filepath.Dir(f) == name }) {
			continue // One of its files does I/O, and says so.
		}
		for _, i := range p.Imports {
			if own, is := strings.CutPrefix(i, module); is && !isPure(own, pure) {
				t.Errorf("%s is called pure, and imports %s, which is not", name, own)
			}
		}
	}
}

// linesOf counts the lines of some files of a package, without what is generated.
func linesOf(t *testing.T, p listed, files []string) int {
	t.Helper()
	lines := 0
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(p.Dir, f))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(f, "zz_generated") {
			lines += bytes.Count(text, []byte("\n"))
		}
	}
	return lines
}

// edges are the imports of files that do I/O themselves.
var edges = []string{"os", "net", "syscall", "golang.org/x/sys", "k8s.io/client-go", "sigs.k8s.io/controller-runtime", "github.com/minio/minio-go"}

// doesIO reports whether a file imports what I/O is done with.
func doesIO(t *testing.T, file string) bool {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(parsed.Imports, func(i *ast.ImportSpec) bool {
		path := strings.Trim(i.Path.Value, `"`)
		return slices.ContainsFunc(edges, func(edge string) bool { return path == edge || strings.HasPrefix(path, edge+"/") })
	})
}

// What does no I/O can be tested as a function.
func TestMostOfTheProgramsDoesNoIOAndIsTested(t *testing.T) {
	all, without, tests := 0, 0, 0
	for _, p := range packages(t) {
		top, _, _ := strings.Cut(strings.TrimPrefix(p.ImportPath, module), "/")
		if !slices.Contains([]string{"api", "cmd", "controllers", "internal"}, top) {
			continue
		}
		tests += linesOf(t, p, slices.Concat(p.TestGoFiles, p.XTestGoFiles))
		all += linesOf(t, p, p.GoFiles)
		without += linesOf(t, p, slices.DeleteFunc(p.GoFiles, func(f string) bool { return doesIO(t, filepath.Join(p.Dir, f)) }))
	}
	t.Logf("%d lines of code, %.1f %% of them in files without I/O, and %.2f lines of tests to each", all, 100*float64(without)/float64(all), float64(tests)/float64(all))
	if float64(without) < leastPure*float64(all) {
		t.Errorf("%.0f %% are the least in files without I/O: move what decides out of what reads and writes", 100*leastPure)
	}
	if float64(tests) < leastTested*float64(all) {
		t.Errorf("%.2f lines of tests to a line of code are the least", leastTested)
	}
}

// lengths are the lines of the functions of a file.
func lengths(t *testing.T, file string) []int {
	t.Helper()
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []int
	for _, d := range parsed.Decls {
		if f, is := d.(*ast.FuncDecl); is {
			all = append(all, set.Position(f.End()).Line-set.Position(f.Pos()).Line+1)
		}
	}
	return all
}

func TestNinetyNineOfAHundredFunctionsFitOnAScreen(t *testing.T) {
	var all []int
	for _, p := range packages(t) {
		for _, f := range p.GoFiles {
			all = append(all, lengths(t, filepath.Join(p.Dir, f))...)
		}
	}
	slices.Sort(all)
	p99 := all[len(all)*99/100]
	t.Logf("of %d functions, 99 in a hundred have at most %d lines", len(all), p99)
	if p99 > mostOfFunctions {
		t.Errorf("99 in a hundred functions may have %d lines at most: split the longest", mostOfFunctions)
	}
}

func TestNoPackageIsTooLargeToBeRead(t *testing.T) {
	for _, p := range packages(t) {
		lines := linesOf(t, p, p.GoFiles)
		most := mostLines
		if strings.HasPrefix(p.ImportPath, module+"api/") {
			most = mostOfAPI
		}
		if lines > most {
			t.Errorf("%s has %d lines: split it along a seam that a reader expects, %d are the most", p.ImportPath, lines, most)
		}
	}
}

// folders are those of the table in docs/design.md, each with whether it may do I/O.
func folders(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "design.md"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		names := named(cells[1])
		words := strings.Split(cells[3], ";")
		for i, name := range names {
			word := words[0]
			if len(words) == len(names) {
				word = words[i]
			}
			all[name] = strings.TrimSpace(word)
		}
	}
	return all
}

func TestThePageOfTheDesignNamesEveryFolderAtTheTop(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "git", "-C", "../..", "ls-files").Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "design.md"))
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for line := range strings.Lines(string(out)) {
		if top, _, deep := strings.Cut(line, "/"); deep && !strings.HasPrefix(top, ".") && !slices.Contains(want, top) {
			want = append(want, top)
		}
	}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) == 4 && strings.HasPrefix(cells[1], " `") && !strings.Contains(cells[1], "/") {
			got = append(got, named(cells[1])...)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the table in docs/design.md names %q at the top, and there are %q", got, want)
	}
}

// named are the folders that stand in backticks, of which one may be several: a/{b,c} is a/b and a/c.
func named(cell string) []string {
	var names []string
	for i, part := range strings.Split(cell, "`") {
		if i%2 == 0 {
			continue
		}
		before, rest, several := strings.Cut(part, "{")
		if !several {
			names = append(names, part)
			continue
		}
		for _, last := range strings.Split(strings.TrimSuffix(rest, "}"), ",") {
			names = append(names, before+last)
		}
	}
	return names
}

func TestThePageOfTheDesignNamesEveryFolder(t *testing.T) {
	pure, but := patterns(t)
	table, found := folders(t), map[string]bool{}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		found[name] = true
		if top := strings.Split(name, "/"); top[0] != "internal" || len(p.GoFiles) == 0 || strings.HasSuffix(name, "test") {
			continue
		} else if whole := strings.Join(top[:2], "/"); table[whole] == "" {
			t.Errorf("the table in docs/design.md lacks %s", whole)
		}
	}
	for name, may := range table {
		if !found[name] {
			t.Errorf("the table in docs/design.md names %s, which is no package", name)
			continue
		}
		mixed := slices.ContainsFunc(but, func(f string) bool { return filepath.Dir(f) == name })
		if kept := isPure(name, pure) && !mixed; kept != (may == "no") {
			t.Errorf("the table in docs/design.md says of I/O in %s %q, and that the linter keeps it pure is %v", name, may, kept)
		}
	}
}

// mostInBench is how many files hack/bench may have: a second Loadstone grew there once.
const mostInBench = 25

func TestTheBenchmarksStaySmall(t *testing.T) {
	var files int
	err := filepath.WalkDir(filepath.Join("..", "..", "hack", "bench"), func(_ string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files++
		}
		return err
	})
	if err != nil || files == 0 || files > mostInBench {
		t.Errorf("hack/bench has %d files (%v), and may have %d", files, err, mostInBench)
	}
}
