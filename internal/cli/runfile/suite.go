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
	// path is where the file lies, and lines where its fields are.
	path  string
	lines tree
}

// IsSuite reports whether a text says of itself that it is a BenchmarkSuite.
func IsSuite(text []byte) bool {
	root := newTree(text).root
	if root == nil {
		return false
	}
	_, kind := child(root, "kind")
	return kind != nil && kind.Value == suiteForm().kind
}

// NamedSuite reads a BenchmarkSuite from a text, under the name by which errors know it. What its templates hold is not looked at: see Admit.
func NamedSuite(ctx context.Context, name string, text []byte) (*Suite, error) {
	var suite v1alpha1.BenchmarkSuite
	lines, err := parse(ctx, text, suiteForm(), &suite)
	if err != nil {
		return nil, called(name, err)
	}
	return &Suite{Suite: &suite, path: name, lines: lines}, nil
}

// Admit holds the specs of all runs, with their parameters filled in, against the schema and the rules of BenchmarkRuns.
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

// Unfinished is Wrong where not everything could be checked because of the problems, which the error says.
func (s *Suite) Unfinished(problems []Problem) error { return partly(s.Wrong(problems), notAll) }

// Wrong is the error of some problems of the file; nil if there is none.
func (s *Suite) Wrong(problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return called(s.path, invalid(problems))
}

// Explain gives a sentence about a run, by its index, the line of the field that it names. One about the suite itself has the index -1.
func (s *Suite) Explain(run int, sentence string) Problem {
	lines := s.lines
	if run >= 0 {
		lines = lines.below("spec." + templatePath(run))
	}
	return Problem{lines.lineOf("spec", sentence), sentence}
}

// templatePath is the path of a run's template in the spec of its suite.
func templatePath(run int) string { return fmt.Sprintf("runs[%d].template", run) }
