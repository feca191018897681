package words

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// text is a piece of what users read, and the line on which it begins. Names are the part of it in which names stand, of fields and of tests.
type text struct {
	line        int
	said, names string
}

// scanAll returns what it finds under some paths, each as FILE:LINE: "OLD": say INSTEAD.
func scanAll(tree fs.FS, paths []string) ([]string, error) {
	var findings []string
	for _, under := range paths {
		err := fs.WalkDir(tree, under, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() && entry.Name() == "testdata" {
				return orSkip(err)
			}
			if entry.IsDir() || !read(file) {
				return nil
			}
			found, err := scan(tree, file)
			findings = append(findings, found...)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", under, err)
		}
	}
	return findings, nil
}

// orSkip returns an error, or skips the folder if there is none.
func orSkip(err error) error {
	if err != nil {
		return err
	}
	return fs.SkipDir
}

// read reports whether a file holds what users read.
func read(file string) bool {
	return slices.Contains([]string{".go", ".md", ".yaml", ".txt", ".tpl", ".tmpl", ".gohtml", ".css", ".json", ""}, path.Ext(file)) && !strings.HasSuffix(file, "_test.go")
}

// scan returns what it finds in one file.
func scan(tree fs.FS, file string) ([]string, error) {
	source, err := fs.ReadFile(tree, file)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	texts := lines(string(source))
	if path.Ext(file) == ".go" {
		if texts, err = literals(file, source, strings.HasPrefix(file, "api/")); err != nil {
			return nil, err
		}
	}
	var findings []string
	for _, t := range texts {
		for _, r := range rules {
			if old := cmp.Or(r.old.FindString(t.said), r.old.FindString(apart(t.names))); old != "" {
				findings = append(findings, fmt.Sprintf("%s:%d: %q: say %s", file, t.line, old, r.instead))
			}
		}
	}
	return findings, nil
}

// joint is where a word begins within a name in camel case, such as the name of a test.
var joint = regexp.MustCompile(`\B[A-Z][a-z]`)

// apart puts a blank between the words of names in camel case.
func apart(names string) string { return joint.ReplaceAllString(names, " $0") }

// lines returns the lines of a file.
func lines(source string) []text {
	var texts []text
	for i, line := range strings.Split(source, "\n") {
		texts = append(texts, text{i + 1, line, line})
	}
	return texts
}

// literals returns the strings of a Go file, and its comments where the CRDs are made from them.
func literals(file string, source []byte, comments bool) ([]text, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, source, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("parsing %s: %w", file, err)
	}
	var texts []text
	ast.Inspect(parsed, func(n ast.Node) bool {
		if l, is := n.(*ast.BasicLit); is && l.Kind == token.STRING {
			texts = append(texts, text{line: files.Position(l.Pos()).Line, said: l.Value})
		}
		return true
	})
	for _, group := range parsed.Comments {
		if comments {
			texts = append(texts, text{line: files.Position(group.Pos()).Line, said: strings.ReplaceAll(group.Text(), "\n", " ")})
		}
	}
	return texts, nil
}
