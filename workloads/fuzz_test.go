package workloads_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fakeGo stands for the go command: it "builds" the test's fuzzer.
const fakeGo = `#!/bin/sh
case $1 in
test) shift; while [ "$1" != -o ]; do shift; done; cp "$FUZZER" "$2" ;;
env) echo /nowhere ;;
list) echo example ;;
esac
`

// busy computes for about a second, so that a few rounds suffice.
const busy = `i=0; while [ $i -lt 700000 ]; do i=$((i + 1)); done; `

func TestTheFuzzersInGoSayWhyTheyEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		fuzzer, spent string
		want, not     []string
	}{
		"enough CPU time":             {fuzzer: busy + "echo PASS", spent: "-3600", want: []string{"fuzz name: ", " s of CPU time, "}, not: []string{"FAIL", "PASS"}},
		"an input that fails":         {fuzzer: "echo found it; exit 1", spent: "-3600", want: []string{"found it\nFAIL: fuzz name: an input, or the fuzzer, failed after"}},
		"time that is over at once":   {fuzzer: "echo PASS", spent: "60", want: []string{"FAIL: fuzz name: out of wall-clock time after ", "with 0 s of CPU time used of 1"}, not: []string{"PASS"}},
		"time that is over meanwhile": {fuzzer: "echo PASS; exec sleep 300", spent: "58", want: []string{"FAIL: fuzz name: out of wall-clock time after "}, not: []string{"PASS"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{"go": fakeGo, "fuzzer": "#!/bin/sh\n" + tc.fuzzer + "\n"} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			command := exec.CommandContext(ctx, "fuzz/go.sh", "name", "FuzzIt", ".", "1")
			// bash initializes SECONDS from the environment.
			command.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "FUZZER="+filepath.Join(dir, "fuzzer"), "SECONDS="+tc.spent)
			command.WaitDelay = time.Second
			out, err := command.CombinedOutput()
			if failed := strings.Contains(tc.want[0], "FAIL"); failed != (err != nil) {
				t.Errorf("it ended with %v", err)
			}
			for _, want := range tc.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("it does not say %q:\n%s", want, out)
				}
			}
			for _, not := range tc.not {
				if strings.Contains(string(out), not) {
					t.Errorf("it says %q:\n%s", not, out)
				}
			}
		})
	}
}
