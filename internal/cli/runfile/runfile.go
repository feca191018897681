package runfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/config/crd"
	"loadstone.dev/loadstone/internal/trial/kind"
)

type form struct {
	kind        string
	word, limit string
	// checks are the API definition's. Compiling them takes most of the time, so it is done once.
	checks func() (*checks, error)
}

var runChecks = sync.OnceValues(func() (*checks, error) { return compile("BenchmarkRun", crd.BenchmarkRun) })

func runForm() form {
	return form{kind: "BenchmarkRun", word: "run", limit: "loadstone run needs a BenchmarkRun; loadstone validate also checks a BenchmarkSuite", checks: runChecks}
}

// maxFile is the API server's limit.
const maxFile = 3 << 20

// File is a file that holds a BenchmarkRun.
type File struct {
	Run   *v1alpha1.BenchmarkRun
	path  string
	lines tree
}

// Open reads a file. Its error names the file and, if it is an *Invalid, every problem.
func Open(ctx context.Context, path string) (*File, error) {
	text, err := Read(path)
	if err != nil {
		return nil, err
	}
	return Named(ctx, path, text)
}

// Read returns a file's text. An unreadable file is a problem of the file.
func Read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, called(path, whole("no such file"))
	}
	if err == nil && info.IsDir() {
		return nil, called(path, whole("this is a folder: name the YAML file of a BenchmarkRun"))
	}
	if err == nil && info.Size() > maxFile {
		return nil, called(path, whole("the file has %d bytes, but the limit is %d: shorten it; for a body of more than 65536 bytes use a script (wrk, k6)", info.Size(), maxFile))
	}
	text, err := os.ReadFile(path)
	if wrong := (*fs.PathError)(nil); errors.As(err, &wrong) {
		return nil, called(path, whole("cannot read the file: %v", wrong.Err))
	}
	return text, err
}

// Named is Open for a text; errors use its name.
func Named(ctx context.Context, name string, text []byte) (*File, error) {
	f, err := Parse(ctx, text)
	if err != nil {
		return nil, called(name, err)
	}
	f.path = name
	return f, nil
}

func called(name string, err error) error {
	if e := (*Invalid)(nil); errors.As(err, &e) {
		e.Path = name
		return e
	}
	return fmt.Errorf("%s: %w", name, err)
}

// Parse is Named for a text without a name.
func Parse(ctx context.Context, text []byte) (*File, error) {
	var run v1alpha1.BenchmarkRun
	lines, err := parse(ctx, text, runForm(), &run)
	if err != nil {
		return nil, err
	}
	return &File{Run: &run, lines: lines}, nil
}

func parse(ctx context.Context, text []byte, of form, into metav1.Object) (tree, error) {
	if err := checkDocuments(text, of); err != nil {
		return tree{}, err
	}
	object, err := decode(text)
	if err != nil {
		return tree{}, err
	}
	lines := newTree(text)
	if err := checkKind(object, of, lines); err != nil {
		return tree{}, err
	}
	problems, err := admit(ctx, object, of, lines)
	if err != nil {
		return tree{}, err
	}
	if err := partly(invalid(problems), notAll); err != nil {
		return tree{}, err
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		return tree{}, whole("not a valid %s: %v", of.kind, err)
	}
	return lines, nil
}

// Explain adds the file and lines of fields to a plan's violations. Other errors stay unchanged.
func (f *File) Explain(err error) error {
	v := (*kind.Violation)(nil)
	if !errors.As(err, &v) {
		return err
	}
	var problems []Problem
	for _, one := range v.All() {
		problems = append(problems, Problem{f.lines.lineOf("spec", one.Message), one.Message})
	}
	return called(f.path, invalid(problems))
}

// checkDocuments refuses tabs, a second document, and a file without any.
func checkDocuments(text []byte, of form) error {
	var problems []Problem
	documents, begun := 0, false
	for i, line := range bytes.Split(text, []byte("\n")) {
		line = bytes.TrimSuffix(line, []byte("\r"))
		content := bytes.TrimSpace(line)
		switch {
		case bytes.Equal(line, []byte("---")) || bytes.HasPrefix(line, []byte("--- ")):
			begun = false
		case len(content) == 0 || content[0] == '#':
		case bytes.IndexByte(line[:len(line)-len(bytes.TrimLeft(line, " \t"))], '\t') >= 0:
			problems = append(problems, Problem{i + 1, "indented with a tab, which YAML does not allow: use spaces"})
			documents, begun = max(documents, 1), true
		case !begun:
			begun = true
			if documents++; documents > 1 {
				problems = append(problems, Problem{i + 1, "a second document starts here: put each " + of.word + " in a separate file"})
			}
		}
	}
	if documents == 0 {
		return whole("the file is empty: write a BenchmarkRun, for example with loadstone init")
	}
	return partly(invalid(problems), notFields)
}

// yamlLine is how YAML's errors name a line.
var yamlLine = regexp.MustCompile(`^(?:yaml: )?line (\d+): `)

// decode reads YAML with integers as such, as the API's rules require.
func decode(text []byte) (map[string]any, error) {
	body, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, partly(invalid(notYAML(err)), notFields)
	}
	var object map[string]any
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, whole("the file contains no BenchmarkRun: write one, for example with loadstone init")
	}
	return object, nil
}

// notYAML returns the problems of invalid YAML or duplicate fields.
func notYAML(err error) []Problem {
	const twice = "yaml: unmarshal errors:"
	var problems []Problem
	why := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	for text := range strings.SplitSeq(strings.TrimPrefix(why, twice), "\n") {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		line := 0
		if found := yamlLine.FindStringSubmatch(text); found != nil {
			line, _ = strconv.Atoi(found[1]) // The expression matches digits.
			text = strings.TrimPrefix(text, found[0])
		}
		if strings.HasPrefix(why, twice) {
			problems = append(problems, Problem{line, strings.TrimSuffix(text, " in map") + ": set each field once"})
		} else {
			text = strings.TrimPrefix(text, "yaml: ")
			if strings.HasPrefix(text, "invalid map key") {
				text = "the key of a field is a list or an object: write a text" // The library prints it in the syntax of Go.
			}
			problems = append(problems, Problem{line, "invalid YAML: " + text})
		}
	}
	return problems
}

func checkKind(object map[string]any, of form, lines tree) error {
	var problems []Problem
	for _, own := range []struct{ field, want, limit string }{
		{"kind", of.kind, of.limit},
		{"apiVersion", v1alpha1.GroupVersion.String(), fmt.Sprintf("this version of Loadstone reads %q", v1alpha1.GroupVersion)},
	} {
		line, _ := lines.line(own.field)
		switch value := object[own.field]; value {
		case own.want:
		case nil:
			problems = append(problems, Problem{line, fmt.Sprintf("%s is missing: add %s: %s", own.field, own.field, own.want)})
		default:
			problems = append(problems, Problem{line, fmt.Sprintf("%s is %s: %s", own.field, shown(value), own.limit)})
		}
	}
	return invalid(problems)
}
