package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/cli/lint"
)

var update = flag.Bool("update", false, "write what is compared: the real output into docs/how-to/analyze.md, the structure of a run into test/structure")

const raw = "internal/cli/lint/testdata/"

// atRoot changes to the repository's root, where the page's example is typed.
func atRoot(t *testing.T) {
	t.Helper()
	t.Chdir(filepath.Join("..", ".."))
}

func exitStatus(err error) int {
	if err == nil {
		return 0
	}
	return status(err)
}

// TestDocumentedAnalyzeExampleIsCurrent compares the output of each command in docs/how-to/analyze.md.
func TestDocumentedAnalyzeExampleIsCurrent(t *testing.T) {
	atRoot(t)
	page := filepath.Join("docs", "how-to", "analyze.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const fence = "```console\n$ loadstone analyze "
	before, rest, found := strings.Cut(string(text), fence)
	command, rest, hasOutput := strings.Cut(rest, "\n")
	want, after, closed := strings.Cut(rest, "```\n")
	if !found || !hasOutput || !closed {
		t.Fatal("the page has no example")
	}
	var out bytes.Buffer
	if err := analyze(&out, nil, strings.Fields(command), textOutput); exitStatus(err) != statusFailed {
		t.Errorf("the example ends with %v, and the page says that a sample is void", err)
	}
	var asJSON bytes.Buffer
	if err := analyze(&asJSON, nil, strings.Fields(command), jsonOutput); exitStatus(err) != statusFailed {
		t.Fatal(err)
	}
	var r lint.Report
	if err := json.Unmarshal(asJSON.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	for _, sentence := range r.NotKnowable {
		if !strings.Contains(after, "\n- "+sentence+"\n") {
			t.Errorf("the page does not list %q", sentence)
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+fence+command+"\n"+out.String()+"```\n"+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("output (-page +real):\n%s", diff)
	}
}

func TestAnalyzeExitCodes(t *testing.T) {
	atRoot(t)
	tests := map[string]struct {
		args  []string
		stdin string
		want  int
		words string
	}{
		"nothing is void":                       {args: []string{raw + "wrk-steady.txt"}, want: 0},
		"a sample is void":                      {args: []string{raw + "wrk-steady.txt", raw + "wrk-500.txt"}, want: 1, words: "1 of 2 samples are void"},
		"a sample is void in JSON":              {args: []string{"--json", raw + "wrk-500.txt"}, want: 1, words: "1 of 1 samples are void"},
		"no file":                               {want: 2, words: "name the files to analyze: loadstone analyze FILE..."},
		"a flag that is none":                   {args: []string{"--fast"}, want: 2, words: "unknown flag: --fast: see loadstone analyze --help"},
		"a file that is not there":              {args: []string{"none.txt"}, want: 2, words: "none.txt"},
		"a folder":                              {args: []string{"docs"}, want: 2, words: "docs"},
		"a file that is no output":              {args: []string{"LICENSE"}, want: 2, words: "LICENSE: found no output of a load tool"},
		"an unreadable file beside a valid one": {args: []string{"LICENSE", raw + "wrk-steady.txt"}, want: 2, words: "LICENSE: found no output"},
		"an unreadable file beside a void one":  {args: []string{"LICENSE", raw + "wrk-500.txt"}, want: 1, words: "1 of 1 samples are void"},
		"standard input that is void":           {args: []string{"-"}, stdin: "unable to connect to 10.0.0.1:80 Connection refused\n", want: 1, words: "void"},
		"standard input that is a page":         {args: []string{"-"}, stdin: "hello", want: 2, words: "reading stdin: "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := executeOn(t, strings.NewReader(tc.stdin), append([]string{"analyze"}, tc.args...)...)
			if got := exitStatus(err); got != tc.want {
				t.Errorf("status %d, want %d: %v", got, tc.want, err)
			}
			if err != nil && !strings.Contains(err.Error(), tc.words) {
				t.Errorf("error %q, want one about %q", err, tc.words)
			}
		})
	}
}

func TestUnreadableFileHidesNoOther(t *testing.T) {
	atRoot(t)
	out, err := execute(t, "analyze", "LICENSE", raw+"wrk-steady.txt", "none.txt")
	if exitStatus(err) != statusBadInput {
		t.Errorf("status %d, want %d", exitStatus(err), statusBadInput)
	}
	for _, want := range []string{"Not read\nLICENSE: found no output", "none.txt: open none.txt: no such file", "wrk-steady.txt:1", "Sample valid"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not print %q:\n%s", want, out)
		}
	}
}

func TestAnalyzePrintsJSON(t *testing.T) {
	atRoot(t)
	out, err := execute(t, "analyse", raw+"wrk-sweep.txt", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var r lint.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Samples) != 5 || len(r.Verdicts) != 5 || len(r.Findings) == 0 || r.Findings[0].Sentence == "" {
		t.Errorf("report %+v", r)
	}
}

func TestUnknownErrorExitsWithOne(t *testing.T) {
	if got := status(errors.New("no cluster")); got != 1 {
		t.Errorf("status %d, want 1", got)
	}
}
