package runfile

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/trial/kind"
)

func TestLineOfEveryField(t *testing.T) {
	const text = `# A comment.
kind: BenchmarkRun
metadata:
  labels: {team.io/name: web}
spec:
  implementations:
  - &first
    name: plain
    command:
    - ./plain
    - --port=80
  - {<<: *first, name: "1"}
  loads:
  - name: sweep

    levels: [{connections: 1},
      {connections: 2}]
`
	lines := newTree([]byte(text))
	for path, want := range map[string]struct {
		line  int
		whole bool
	}{
		"":                                  {2, true},
		"kind":                              {2, true},
		"metadata.labels[team.io/name]":     {4, true},
		"spec.implementations":              {6, true},
		"spec.implementations[0]":           {7, true},
		"spec.implementations[0].name":      {8, true},
		"spec.implementations[plain].name":  {8, true},
		"spec.implementations[0].command.1": {11, true},
		"spec.implementations[0].port":      {7, false},
		"spec.implementations[7].port":      {6, false},
		"spec.loads[0].levels[1]":           {17, true},
		"spec.loads[].levels":               {13, false},
		"nothing.of.this":                   {2, false},
	} {
		if line, whole := lines.line(path); line != want.line || whole != want.whole {
			t.Errorf("%q is on line %d (%v), want %d (%v)", path, line, whole, want.line, want.whole)
		}
	}
	if line, whole := (tree{}).line("spec"); line != 0 || whole {
		t.Errorf("a file that is no YAML has the line %d", line)
	}
}

func TestPlanViolationHasLine(t *testing.T) {
	file, err := Parse(t.Context(), []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	for sentence, want := range map[string]int{
		"spec.implementations[1].port is not set":                          9,
		"implementations[costly].command: there is no program":             9,
		"spec.loads[0].levels[0].connections is 10, which 3 cannot share":  12,
		"spec.loads[0].script.key: there is no script":                     12,
		"spec.blocks times spec.implementations makes 2000 trials":         6,
		"servers and generators need 9 CPUs: lower spec.implementations[]": 7,
		"the folder cannot be written":                                     6,
	} {
		var e *Invalid
		if err := file.Explain(kind.Invalid("%s", sentence)); !errors.As(err, &e) || len(e.Problems) != 1 || e.Problems[0].Line != want || e.Problems[0].Message != sentence {
			t.Errorf("%q is said as %v, want line %d", sentence, err, want)
		}
	}
	if other := errors.New("the disk is full"); !errors.Is(file.Explain(other), other) {
		t.Error("another error is said as if it were the file's")
	}
}

func TestProblemsAreSortedByLine(t *testing.T) {
	_, err := Parse(t.Context(), []byte(strings.Replace(strings.Replace(good, "port: 8081", "port: 0", 1), "metadata:", "spce: {}\nmetadata:", 1)))
	var e *Invalid
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	e.Path = "run.yaml"
	want := "run.yaml:4: spce: unknown field: did you mean spec?\n" +
		"run.yaml:10: spec.implementations[1].port: 0 is too small: use at least 1\n" +
		"run.yaml: some rules were not checked: correct these problems first"
	if diff := cmp.Diff(want, e.Lines()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if got := (&Invalid{Path: "run.yaml", Problems: []Problem{{Message: "the file is empty"}}}).Lines(); got != "run.yaml: the file is empty" {
		t.Errorf("a problem of no line is listed as %q", got)
	}
}

func TestNearestFieldNameIsSuggested(t *testing.T) {
	checks, err := runForm().checks()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"spec.blcks":                         "did you mean blocks?",
		"spec.implementations[0].prot":       "did you mean port?",
		"spec.loads[2].levels[1].conections": "did you mean connections?",
		"spec.nothingLikeIt":                 "correct its name or position, or remove it",
	} {
		if got := instead(checks.structural, path); got != want {
			t.Errorf("for %s it proposes %q, want %q", path, got, want)
		}
	}
}
