package runfile

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// changed is the good file with one part in the place of another.
func changed(t *testing.T, old, instead string) []byte {
	t.Helper()
	if !strings.Contains(good, old) {
		t.Fatalf("%q is not in the file", old)
	}
	return []byte(strings.Replace(good, old, instead, 1))
}

func TestAFileMayBeWrittenInAnyWayThatYAMLAllows(t *testing.T) {
	file, err := Parse(t.Context(), []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	want := file.Run
	text, err := json.Marshal(map[string]any{"apiVersion": want.APIVersion, "kind": want.Kind, "metadata": map[string]any{"name": want.Name}, "spec": want.Spec})
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{
		"with the line ends of Windows":      strings.ReplaceAll(good, "\n", "\r\n"),
		"without an end of its last line":    strings.TrimSuffix(good, "\n"),
		"with empty lines and comments":      "\n  \n# One.\n---\n# Two.\n\n" + strings.ReplaceAll(good, "spec:\n", "spec:\n\n    # Three.\n"),
		"with a separator that is explained": "--- # The only one.\n" + good,
		"as JSON":                            string(text),
		"with labels":                        strings.Replace(good, "  name: quick", "  name: quick\n  labels: {team: web}", 1),
	} {
		t.Run(name, func(t *testing.T) {
			parsed, err := Parse(t.Context(), []byte(file))
			if err != nil {
				t.Fatal(err)
			}
			got := parsed.Run
			if got.Name != "quick" || len(got.Spec.Implementations) != 2 || got.Spec.Implementations[1].Command[0] != "./costly" || got.Spec.Loads[0].Levels[0].Connections != 10 {
				t.Errorf("it reads %+v", got)
			}
		})
	}
}

func TestEverythingThatIsWrongIsSaidAtOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		old, instead string
		want         []string
	}{
		"fields that are none": {
			"implementations:\n  - {name: plain,", "blcks: 2\n  implementations:\n  - {name: plain, prt: 80,", []string{"line 7: spec.blcks: there is no such field: did you mean blocks?; ", "line 9: spec.implementations[0].prt: there is no such field: did you mean port?"},
		},
		"values out of bounds": {"port: 8080}\n  - {name: costly, command: [./costly], port: 8081}", "port: 0}\n  - {name: costly, command: [./costly], port: 70000}", []string{"spec.implementations[0].port", "spec.implementations[1].port", "; "}},
		"a text for a number":  {"baseline:", "blocks: many\n  baseline:", []string{"spec.blocks", "integer"}},
		"a number for a text":  {"baseline: plain", "baseline: 5", []string{"spec.baseline", "string"}},
		"a part of a block":    {"baseline:", "blocks: 2.5\n  baseline:", []string{"spec.blocks", "integer"}},
		"one value for a list": {"command: [./plain]", "command: ./plain", []string{"spec.implementations[0].command", "array"}},
		"no implementation":    {"implementations:\n  - {name: plain, command: [./plain], port: 8080}\n  - {name: costly, command: [./costly], port: 8081}\n", "implementations: []\n", []string{"spec.implementations"}},
		"no spec at all":       {good[strings.Index(good, "spec:"):], "", []string{"spec"}},
		"a name with a dot":    {"name: quick", "name: quick.1", []string{"may not hold dots"}},
		"a name that is long":  {"name: quick", "name: " + strings.Repeat("q", 29), []string{"at most 28 characters"}},
		"connections that do not divide": {
			"levels: [{connections: 10}]", "generators: {pods: 3}, levels: [{connections: 10}]", []string{"spec.loads[0]", "every level's connections must be a multiple of generators.pods"},
		},
		"a rate that wrk cannot hold": {
			"levels: [{connections: 10}]", "levels: [{connections: 10, requestsPerSecond: 5}]", []string{"levels[].requestsPerSecond is for k6 and vegeta only"},
		},
		"one level twice": {"levels: [{connections: 10}]", "levels: [{connections: 10}, {connections: 10}]", []string{"two levels have the same connections"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(t.Context(), changed(t, tc.old, tc.instead))
			if err == nil || strings.Contains(err.Error(), "\n") {
				t.Fatalf("it ends with %v", err)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("it ends with %v\nwant %q", err, want)
				}
			}
			if sentences := strings.Split(err.Error(), "; "); len(sentences) > 1 && sentences[0] == sentences[1] {
				t.Errorf("it says one thing twice: %v", err)
			}
		})
	}
}

func TestWhatIsNoRunAtAllIsRefused(t *testing.T) {
	for name, tc := range map[string]struct{ file, want string }{
		"nothing":                 {"", "the file is empty"},
		"separators alone":        {"---\n\n---\n# Nothing.\n", "the file is empty"},
		"a list":                  {"- kind: BenchmarkRun\n", "it holds no BenchmarkRun"},
		"a text":                  {"a benchmark run\n", "it holds no BenchmarkRun"},
		"two runs":                {good + "---\n" + good, "line 15: a second document begins here"},
		"two runs of Windows":     {strings.ReplaceAll(good+"---\n"+good, "\n", "\r\n"), "a second document begins here"},
		"another run after none":  {"---\n---\n" + good + "--- \n" + good, "a second document begins here"},
		"a tab in a deeper line":  {"kind: BenchmarkRun\nspec:\n  \tblocks: 2\n", "line 3: it is indented with a tab"},
		"an unknown YAML alias":   {"kind: *run\n", "it is no YAML: unknown anchor"},
		"a page of another world": {"<!DOCTYPE html>\n<html></html>\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			run, err := Parse(t.Context(), []byte(tc.file))
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("it reads %+v with %v\nwant one line with %q", run, err, tc.want)
			}
		})
	}
}

func TestAFileThatNoClusterWouldTakeIsNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.yaml")
	for _, tc := range []struct {
		size int
		want string
	}{
		{maxFile, "the file is empty"},
		{maxFile + 1, "is no file of at most 3145728 bytes"},
	} {
		if err := os.WriteFile(path, []byte(strings.Repeat("#", tc.size)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%d bytes end with %v, want %q", tc.size, err, tc.want)
		}
	}
}
