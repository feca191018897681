package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var levels = []string{"test", "test-workloads", "test-cluster"}

func TestEachPackageWithTestsBelongsToOneLevel(t *testing.T) {
	c := exec.CommandContext(t.Context(), filepath.Join("..", "..", "hack", "test.sh"), "packages")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	level := map[string]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if len(words) != 4 || !slices.Contains(levels, words[0]) || !slices.Contains([]string{"race", "plain"}, words[2]) {
			t.Fatalf("the line %q is not LEVEL PART race|plain PACKAGE", line)
		}
		if level[words[3]] != "" {
			t.Errorf("%s is tested twice, in %s and %s", words[3], level[words[3]], words[0])
		}
		level[words[3]] = words[0]
	}
	for _, p := range packages(t) {
		tested := len(p.TestGoFiles)+len(p.XTestGoFiles) > 0
		if has := level[p.ImportPath] != ""; has != tested {
			t.Errorf("%s has tests: %t; hack/test.sh runs them: %t", p.ImportPath, tested, has)
		}
		needsFlux := slices.Contains(slices.Concat(p.TestImports, p.XTestImports), module+"test/flux")
		if needsFlux && level[p.ImportPath] != "test-cluster" {
			t.Errorf("%s starts Flux' controllers: these are built for test-cluster alone", p.ImportPath)
		}
	}
}

// stages runs a script with stages and returns its output and whether it passed.
func stages(t *testing.T, script string) (said string, passes bool) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "bash", "-euc", "RUN_AGAIN='make test'\n. hack/stages.sh\ntrap summary EXIT\n"+script+"\ncompleted=yes\n")
	c.Env = append(os.Environ(), "AGAIN=") // Do not use the file of the stage that runs this test.
	c.Dir = filepath.Join("..", "..")
	out, err := c.CombinedOutput()
	if c.ProcessState == nil {
		t.Fatalf("running the stages: %v", err)
	}
	return string(out), err == nil
}

func TestFailedStagesAreListedAndDoNotStopOthers(t *testing.T) {
	said, passes := stages(t, `
fails() { echo "why one failed"; again make one; false; echo "goes on after a failure"; }
quiet() { echo "what passed said"; }
apart() { echo "why apart failed"; exit 3; }
begin "apart" apart
begin "quiet" quiet
stage "one" fails
stage "two" echo "two runs"
join "apart"
join "quiet"
needs "three" "one" && stage "three" echo "three runs"
needs "four" "two" && stage "four" echo "four runs"
`)
	if passes {
		t.Error("the script passes although stages failed")
	}
	for _, want := range []string{
		"why one failed", "two runs", "four runs", "why apart failed", "3 failed",
		"  one\n    make one\n", "  apart\n    make test\n", "  three (not run: it needs \"one\")\n", " s  quiet\n",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	for _, not := range []string{"goes on after a failure", "what passed said", "three runs"} {
		if strings.Contains(said, not) {
			t.Errorf("it says %q:\n%s", not, said)
		}
	}
}

func TestNestedStagesReportFailures(t *testing.T) {
	inner := `bash -euc "RUN_AGAIN='make inner'; RUN_BEFORE='export CI=true'; . hack/stages.sh; trap summary EXIT; stage well again make well; stage in false"`
	said, passes := stages(t, "whole() { "+inner+"; }\nstage whole whole\n")
	if _, last, _ := strings.Cut(said, "  whole\n"); passes || !strings.HasSuffix(last, "  whole\n    export CI=true\n    make inner\n") {
		t.Errorf("it ends with %t and says %q", passes, said)
	}
}

func TestPassingStagesExitWithZero(t *testing.T) {
	said, passes := stages(t, `begin "a" true; stage "b" true; join "a"; clean() { echo cleaned up; }; FINALLY=clean`)
	if !passes || !strings.Contains(said, "All 2 stages passed") || !strings.Contains(said, "cleaned up") {
		t.Errorf("it ends with %t and says %q", passes, said)
	}
}

func TestInterruptStopsAllStages(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	said, passes := stages(t, `
begin "endless" bash -c "echo started; trap 'touch `+mark+`; exit' TERM; echo > `+mark+`.begun; while :; do sleep 0.1; done"
until [ -e "`+mark+`.begun" ]; do sleep 0.1; done
kill $$
`)
	if passes || !strings.Contains(said, "Stopped before the last stage") || !strings.Contains(said, "endless was stopped; it had said:\nstarted") {
		t.Errorf("it ends with %t and says %q", passes, said)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Errorf("what ran in the background was not told to end: %v", err)
	}
}
