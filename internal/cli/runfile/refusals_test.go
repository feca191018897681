package runfile

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func changed(t *testing.T, old, instead string) []byte {
	t.Helper()
	if !strings.Contains(good, old) {
		t.Fatalf("%q is not in the file", old)
	}
	return []byte(strings.Replace(good, old, instead, 1))
}

func TestParseYAMLVariants(t *testing.T) {
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

func TestAllProblemsAreReportedTogether(t *testing.T) {
	for name, tc := range map[string]struct {
		old, instead string
		want         []string
	}{
		"fields that are none": {
			"implementations:\n  - {name: plain,", "blcks: 2\n  implementations:\n  - {name: plain, prt: 80,", []string{"line 7: spec.blcks: unknown field: did you mean blocks?; ", "line 9: spec.implementations[0].prt: unknown field: did you mean port?"},
		},
		"values out of bounds": {"port: 8080}\n  - {name: costly, command: [./costly], port: 8081}", "port: 0}\n  - {name: costly, command: [./costly], port: 70000}", []string{"spec.implementations[0].port", "spec.implementations[1].port", "; "}},
		"a text for a number":  {"baseline:", "blocks: many\n  baseline:", []string{"spec.blocks", "integer"}},
		"a number for a text":  {"baseline: plain", "baseline: 5", []string{"spec.baseline", "string"}},
		"a part of a block":    {"baseline:", "blocks: 2.5\n  baseline:", []string{"spec.blocks", "integer"}},
		"one value for a list": {"command: [./plain]", "command: ./plain", []string{"spec.implementations[0].command", "write [\"./plain\"]"}},
		"no implementation":    {"implementations:\n  - {name: plain, command: [./plain], port: 8080}\n  - {name: costly, command: [./costly], port: 8081}\n", "implementations: []\n", []string{"spec.implementations"}},
		"no spec at all":       {good[strings.Index(good, "spec:"):], "", []string{"spec"}},
		"a name with a dot":    {"name: quick", "name: quick.1", []string{"no dots, because"}},
		"a name that is long":  {"name: quick", "name: " + strings.Repeat("q", 29), []string{"at most 28 characters"}},
		"connections that do not divide": {
			"levels: [{connections: 10}]", "generators: {pods: 3}, levels: [{connections: 10}]", []string{"spec.loads[0]", "every level's connections must be a multiple of generators.pods"},
		},
		"a rate that wrk cannot hold": {
			"levels: [{connections: 10}]", "levels: [{connections: 10, requestsPerSecond: 5}]", []string{"levels[].requestsPerSecond is for k6 and vegeta only"},
		},
		"a prefix in place of an earlier run": {
			"baseline: plain", "baseline: plain\n  objectives: [{metric: Regression, of: Throughput, min: \"1\", against: {runs: [bench/quick-0c9f3f11], anchor: plain}}]",
			[]string{`spec.objectives[0].against.runs[0]: "bench/quick-0c9f3f11" is no earlier run: write {name: NAME, uid: UID, manifestSHA256: DIGEST}`},
		},
		"an earlier run without a digest": {
			"baseline: plain", "baseline: plain\n  objectives: [{metric: Regression, of: Throughput, min: \"1\", against: {runs: [{name: quick, uid: 0c9f3f11-2222}], anchor: plain}}]",
			[]string{"spec.objectives[0].against.runs[0].manifestSHA256"},
		},
		"a rule beside a field of another type": {
			"baseline: plain", "blocks: many\n  objectives: [{metric: Regression, of: Throughput, min: \"1\", against: {lastGood: 5, runs: [{name: a, uid: 0c9f3f11, manifestSHA256: " + strings.Repeat("a", 64) + "}], anchor: plain}}]",
			[]string{"spec.blocks", "spec.objectives[0].against: against needs either runs or lastGood"},
		},
		"a rule beside a value out of bounds": {"port: 8081}\n  baseline: plain", "port: 0}\n  baseline: other", []string{"spec.implementations[1].port", "; line 10: spec: baseline must be the name of"}},
		"a name and a field":                  {"name: quick\nspec:\n", "name: Quick_1\nspec:\n  blcks: 2\n", []string{`line 5: metadata.name is "Quick_1": use lowercase letters, digits and dashes`, "; line 7: spec.blcks"}},
		"a long name and a field":             {"name: quick\nspec:\n", "name: quick-" + strings.Repeat("q", 29) + "\nspec:\n  blcks: 2\n", []string{"at most 28 characters", "line 7: spec.blcks"}},
		"a name that YAML takes for a number": {"name: quick", "name: 7", []string{"line 5: metadata.name: YAML does not read 7 as text: put it in quotes"}},
		"no name":                             {"  name: quick", "  labels: {}", []string{"metadata.name is missing: set it"}},
		"one level twice":                     {"levels: [{connections: 10}]", "levels: [{connections: 10}, {connections: 10}]", []string{"two levels have the same connections"}},
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
			if !strings.HasSuffix(err.Error(), "; "+notAll) {
				t.Errorf("it does not end with what was not checked: %v", err)
			}
			if sentences := strings.Split(err.Error(), "; "); len(sentences) > 1 && sentences[0] == sentences[1] {
				t.Errorf("it says one thing twice: %v", err)
			}
		})
	}
}

func TestSchemaErrorsSayWhatToWrite(t *testing.T) {
	for name, tc := range map[string]struct{ old, instead, want string }{
		"a number that is too large":     {"port: 8081", "port: 80800", "spec.implementations[1].port: 80800 is too large: use at most 65535;"},
		"a number that is too small":     {"port: 8081", "port: -1", "spec.implementations[1].port: -1 is too small: use at least 1;"},
		"a name that YAML reads as true": {"name: costly", "name: y", "spec.implementations[1].name: true is a boolean, not a string: put it in quotes;"},
		"a number for a text":            {"baseline: plain", "baseline: 5", `spec.baseline: 5 is an integer, not a string: write "5", with quotes;`},
		"a quoted number":                {"port: 8081", `port: "8081"`, `spec.implementations[1].port: "8081" is a string, not an integer: write 8081, without quotes;`},
		"a word for a number":            {"port: 8081", "port: http", `spec.implementations[1].port: "http" is a string, not an integer: write a whole number, such as 10;`},
		"a list for an object":           {"command: [./plain], port: 8080", "command: [./plain], port: 8080, tls: [a]", "spec.implementations[0].tls: it is a list, not an object: write its fields as NAME: VALUE;"},
		"a field without a value":        {"command: [./plain]", "command: null", "spec.implementations[0].command: no value: set one, or remove the field;"},
		"a spec without a value":         {good[strings.Index(good, "spec:"):], "spec:\n", "spec: no value: set one, or remove the field;"},
		"an empty text":                  {"baseline: plain", `baseline: ""`, "spec.baseline: empty: set a value, or remove it;"},
		"an empty list":                  {"command: [./plain]", "command: []", "spec.implementations[0].command: 0 items are too few: use at least 1;"},
		"a list that is too long":        {"command: [./plain]", "command: [" + strings.Repeat("a, ", 200) + "a]", "spec.implementations[0].command: 201 items are too many: use at most "},
		"a text that is too long":        {"name: costly", "name: " + strings.Repeat("c", 30), "spec.implementations[1].name: too long: use at most 20 characters;"},
		"a body of a mebibyte":           {"tool: wrk", "tool: wrk, request: {method: POST, body: " + strings.Repeat("b", 1<<20) + "}", "spec.loads[0].request.body: too long: use at most 65536 characters, or let a script make the requests (wrk, k6);"},
		"an answer of a mebibyte":        {"tool: wrk", "tool: wrk, request: {expect: {body: " + strings.Repeat("b", 1<<20) + "}}", "spec.loads[0].request.expect.body: too long: use at most 65536 characters, or remove it: each body is then compared with the first one of its trial;"},
		"a word that is none of several": {"baseline: plain", "baseline: plain\n  order: Chaos", `spec.order: unknown value "Chaos": choose from Blocks, SlicedDuet;`},
		"an amount that is none":         {"port: 8081", "port: 8081, memory: much", `spec.implementations[1].memory: "much" is not a quantity: write one such as 256Mi or 0.5;`},
		"a name that is there twice":     {"name: costly", "name: plain", `spec.implementations[1]: an earlier item also has name "plain": change or remove one;`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Parse(t.Context(), changed(t, tc.old, tc.instead)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("it ends with %v\nwant %q", err, tc.want)
			}
		})
	}
}

func TestFileWithoutRunIsRefused(t *testing.T) {
	for name, tc := range map[string]struct{ file, want string }{
		"nothing":                 {"", "the file is empty"},
		"separators alone":        {"---\n\n---\n# Nothing.\n", "the file is empty"},
		"a list":                  {"- kind: BenchmarkRun\n", "the file contains no BenchmarkRun"},
		"a text":                  {"a benchmark run\n", "the file contains no BenchmarkRun"},
		"two runs":                {good + "---\n" + good, "line 15: a second document starts here"},
		"two runs of Windows":     {strings.ReplaceAll(good+"---\n"+good, "\n", "\r\n"), "a second document starts here"},
		"another run after none":  {"---\n---\n" + good + "--- \n" + good, "a second document starts here"},
		"a tab in a deeper line":  {"kind: BenchmarkRun\nspec:\n  \tblocks: 2\n", "line 3: indented with a tab"},
		"an object as a key":      {"kind: BenchmarkRun\nmetadata: { {a: 1}}\n", "invalid YAML: the key of a field is a list or an object"},
		"an unknown YAML alias":   {"kind: *run\n", "invalid YAML: unknown anchor"},
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

func TestTooLargeFileIsNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.yaml")
	for _, tc := range []struct {
		size int
		want string
	}{
		{maxFile, "the file is empty"},
		{maxFile + 1, "the file has 3145729 bytes, but the limit is 3145728: shorten it"},
	} {
		if err := os.WriteFile(path, []byte(strings.Repeat("#", tc.size)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%d bytes end with %v, want %q", tc.size, err, tc.want)
		}
	}
}
