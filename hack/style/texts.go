package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// under are the folders and files of each kind of text. Test data is no text.
var (
	docs     = []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "CHANGELOG.md", ".github", "docs", "charts", "hack", "config", "workloads"}
	other    = []string{"Makefile", "charts/loadstone", "config/crd", "config/samples", "config/suites", "config/workloads", "cmd", "controllers", "hack", "internal"}
	messages = []string{"api", "cmd", "controllers", "hack", "internal"}
	// plain are the extensions of files whose lines may hold old words.
	plain = []string{".yaml", ".txt", ".tpl", ".tmpl", ".gohtml", ".css", ".json", ""}
)

// extract writes the texts of a file to DIR/KIND/FILE.md. They keep their line numbers.
func extract(root, file, dir string) error {
	if strings.Contains(file, "/testdata/") || strings.HasPrefix(file, here) && path.Ext(file) != ".go" {
		return nil
	}
	texts := map[string][]string{}
	source, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return err
	}
	switch {
	case file == "docs/reference/cli.md":
		texts["cli"] = strings.Split(string(source), "\n")
	case file == "docs/reference/api.md": // The comments of the API are checked.
	case path.Ext(file) == ".md" && isUnder(file, docs):
		texts["docs"] = strings.Split(string(source), "\n")
	case path.Ext(file) == ".go":
		if texts, err = textsOfGo(file, source); err != nil {
			return err
		}
	case isUnder(file, other) && slices.Contains(plain, path.Ext(file)):
		texts["other"] = items(strings.Split(string(source), "\n"))
	}
	if path.Ext(file) == ".md" && isUnder(file, docs) {
		texts["other"] = items(namesApart(strings.Split(string(source), "\n")))
	}
	for kind, lines := range texts {
		to := filepath.Join(dir, kind, file+".md")
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func isUnder(file string, paths []string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return file == p || strings.HasPrefix(file, p+"/") })
}

// textsOfGo returns the comments of a Go file and, unless it is a test, its messages.
func textsOfGo(file string, source []byte) (map[string][]string, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, source, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("parsing %s: %w", file, err)
	}
	if ast.IsGenerated(parsed) {
		return nil, nil
	}
	total := strings.Count(string(source), "\n") + 2
	comments, said, raw := make([]string, total), make([]string, total), make([]string, total)
	for _, group := range parsed.Comments {
		for i, line := range commentLines(group) {
			comments[files.Position(group.Pos()).Line-1+i] = line
		}
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if l, is := n.(*ast.BasicLit); is && l.Kind == token.STRING {
			addLiteral(l.Value, files.Position(l.Pos()).Line-1, said, raw)
		}
		return true
	})
	texts := map[string][]string{"comments": comments}
	if strings.HasPrefix(file, "api/") {
		texts = map[string][]string{"api": comments}
	}
	if isUnder(file, messages) && !strings.HasSuffix(file, "_test.go") {
		texts["messages"], texts["other"] = said, raw
	}
	return texts, nil
}

// directive is a comment for a tool.
var directive = regexp.MustCompile(`^//(?:go:|nolint|\+|line |export )`)

// commentLines returns the lines of a comment: a list item, so that Vale joins it with no other comment. Examples of code are left out.
func commentLines(group *ast.CommentGroup) []string {
	var lines []string
	for _, c := range group.List {
		for _, line := range strings.Split(c.Text, "\n") {
			text := strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(line, "/*"), "*/"), "//")
			if directive.MatchString(line) || strings.HasPrefix(text, "\t") || strings.HasPrefix(text, "  ") {
				text = ""
			}
			lines = append(lines, strings.TrimSpace(text))
		}
	}
	lines[0] = "- " + lines[0]
	return lines
}

// word is a word of a message.
var word = regexp.MustCompile(`[A-Za-z']{2,}`)

// addLiteral adds a string to the messages if it is a sentence. The lines of others may still hold old words.
func addLiteral(literal string, line int, said, raw []string) {
	lines := strings.Split(literal, "\n")
	if len(lines) > 1 {
		copy(raw[line:], items(lines))
		return
	}
	text, err := strconv.Unquote(literal)
	if err != nil {
		return
	}
	text = strings.Join(strings.Fields(text), " ")
	into := raw
	if len(word.FindAllString(text, -1)) >= 4 {
		into = said
	}
	if into[line] == "" {
		into[line] = "- " + text
	} else {
		into[line] += ". " + text
	}
}

func items(lines []string) []string {
	marks := strings.NewReplacer("`", " ", "<", " ", ">", " ")
	result := make([]string, len(lines))
	for i, line := range lines {
		result[i] = "- " + strings.TrimSpace(marks.Replace(line))
	}
	return result
}

var (
	nameOfTest = regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z]\w+`)
	// joint is where a word begins within a name.
	joint = regexp.MustCompile(`\B[A-Z][a-z]`)
)

// namesApart puts spaces between the words of the names of tests.
func namesApart(lines []string) []string {
	result := make([]string, len(lines))
	for i, line := range lines {
		result[i] = nameOfTest.ReplaceAllStringFunc(line, func(name string) string { return joint.ReplaceAllString(name, " $0") })
	}
	return result
}
