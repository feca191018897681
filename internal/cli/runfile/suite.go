package runfile

import (
	"context"
	encoding "encoding/json"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/util/json"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/config/crd"
)

var suiteChecks = sync.OnceValues(func() (*checks, error) { return compile("BenchmarkSuite", crd.BenchmarkSuite) })

func suiteForm() form {
	return form{kind: "BenchmarkSuite", word: "suite", limit: "this is not a BenchmarkSuite", checks: suiteChecks}
}

// Suite is a file that holds a BenchmarkSuite.
type Suite struct {
	Suite *v1alpha1.BenchmarkSuite
	path  string
	lines tree
}

// IsSuite reports whether a text claims to be a BenchmarkSuite.
func IsSuite(text []byte) bool {
	root := newTree(text).root
	if root == nil {
		return false
	}
	_, kind := child(root, "kind")
	return kind != nil && kind.Value == suiteForm().kind
}

// NamedSuite reads a BenchmarkSuite; errors use its name. Admit checks its templates.
func NamedSuite(ctx context.Context, name string, text []byte) (*Suite, error) {
	var suite v1alpha1.BenchmarkSuite
	lines, err := parse(ctx, text, suiteForm(), &suite)
	if err != nil {
		return nil, called(name, err)
	}
	return &Suite{Suite: &suite, path: name, lines: lines}, nil
}

// Admit checks all runs' specs, with parameters filled in, against schema and rules.
func (s *Suite) Admit(ctx context.Context, specs []encoding.RawMessage) error {
	var problems []Problem
	for i, text := range specs {
		var spec any
		if err := json.Unmarshal(text, &spec); err != nil {
			return fmt.Errorf("%s: reading spec.%s: %w", s.path, templatePath(i), err)
		}
		form := runForm()
		run := map[string]any{
			"apiVersion": v1alpha1.GroupVersion.String(), "kind": form.kind, "metadata": map[string]any{"name": "a-run"}, "spec": spec,
		}
		wrong, err := admit(ctx, run, form, s.lines.below("spec."+templatePath(i)))
		if err != nil {
			return err
		}
		for _, p := range wrong {
			problems = append(problems, Problem{p.Line, "spec." + templatePath(i) + "." + p.Message})
		}
	}
	return s.Unfinished(problems)
}

// Unfinished is Wrong if problems prevented some checks.
func (s *Suite) Unfinished(problems []Problem) error { return partly(s.Wrong(problems), notAll) }

// Wrong is the error of a file's problems; nil if none.
func (s *Suite) Wrong(problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return called(s.path, invalid(problems))
}

// Explain adds the line of the named field to a sentence about a run, by index; -1 is the suite itself.
func (s *Suite) Explain(run int, sentence string) Problem {
	lines := s.lines
	if run >= 0 {
		lines = lines.below("spec." + templatePath(run))
	}
	return Problem{lines.lineOf("spec", sentence), sentence}
}

func templatePath(run int) string { return fmt.Sprintf("runs[%d].template", run) }
