package runfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"loadstone.dev/loadstone/internal/testbed/mutated"
)

// FuzzValidate looks for files that validation cannot handle, and for messages that users cannot read.
func FuzzValidate(f *testing.F) {
	corpus := mutated.Of[string](f)
	samples, err := filepath.Glob(filepath.Join("..", "..", "..", "config", "*", "*.yaml"))
	if err != nil || len(samples) == 0 {
		f.Fatalf("there are no samples: %v", err)
	}
	for _, sample := range samples {
		text, err := os.ReadFile(sample)
		if err != nil {
			f.Fatal(err)
		}
		corpus.Add(string(text))
	}
	head := "apiVersion: loadstone.dev/v1alpha1\nkind: BenchmarkRun\nmetadata: {name: x}\n"
	for _, rest := range []string{
		`"": 1`, `"[": 1`, `"[]": 1`, `".": 1`, `"a.": 1`, `spec: {"": 1}`, `spec: {loads: [{"": 2}]}`, `spec: {order: {}}`, `spec: {order: null}`, `spec: {blocks: {a: 1}}`,
		`spec: {implementations: [[], {}, null, 1]}`, `"\e]0;title\a": 1`, `spec: {baseline: "\e[31m"}`, `spec: &a [*a]`, "spec: {loads: [{tool: [wrk]}]}",
	} {
		corpus.Add(head + rest)
	}
	corpus.Add("kind: {name: aa}\napiVersion: [1]\nmetadata: {name: {a: 1}}")
	corpus.Add("kind: BenchmarkSuite\napiVersion: loadstone.dev/v1alpha1\nmetadata: {name: x}\nspec: {runs: [{name: \"\", template: {\"\": 1}}]}")
	corpus.Fuzz(func(t testing.TB, text string) {
		result, err := Validate(t.Context(), "run.yaml", []byte(text), time.Unix(0, 0))
		if err != nil {
			t.Fatalf("an error that is not about the file: %v", err)
		}
		if result.Valid != (len(result.Problems) == 0) {
			t.Errorf("valid: %t, with %d problems", result.Valid, len(result.Problems))
		}
		if most := mostProblems + 2; len(result.Problems) > most {
			t.Errorf("%d problems are listed, want at most %d", len(result.Problems), most)
		}
		for _, bad := range []string{"map[", "<nil>", "[]interface"} {
			if strings.Contains(result.Text, bad) && !strings.Contains(text, bad) {
				t.Errorf("a message has Go's syntax %q: %s", bad, result.Text)
			}
		}
		if i := strings.IndexFunc(result.Text, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }); i >= 0 {
			t.Errorf("a message has a control character: %q", result.Text)
		}
	})
}
