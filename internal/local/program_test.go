package local

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/local/reexec/reexectest"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
)

func TestAProgramIsFoundFromTheFolderOfItsRun(t *testing.T) {
	folder, path := t.TempDir(), t.TempDir()
	below := filepath.Join(folder, "bin")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{folder, below, path} {
		reexectest.Write(t, filepath.Join(dir, "server"), "#!/bin/sh\n", 0o700)
	}
	reexectest.Write(t, filepath.Join(folder, "alone"), "#!/bin/sh\n", 0o700)
	reexectest.Write(t, filepath.Join(folder, "text"), "text", 0o600)
	t.Setenv("PATH", path)
	for name, tc := range map[string]struct{ command, want, refusal string }{
		"in the folder itself":               {"./server", filepath.Join(folder, "server"), ""},
		"below the folder":                   {"bin/server", filepath.Join(below, "server"), ""},
		"above the folder":                   {"bin/../../" + filepath.Base(folder) + "/server", filepath.Join(folder, "server"), ""},
		"by its whole path":                  {filepath.Join(below, "server"), filepath.Join(below, "server"), ""},
		"in PATH, not in the folder":         {"server", filepath.Join(path, "server"), ""},
		"in the folder only, without a path": {"alone", "", `there is no program "alone" in PATH: install it, or name its path, such as ./alone`},
		"nowhere":                            {"./nothing", "", "there is no program " + filepath.Join(folder, "nothing") + ": build it"},
		"a folder":                           {"./bin", "", filepath.Join(folder, "bin") + " is no program that can be executed"},
		"a text":                             {"./text", "", filepath.Join(folder, "text") + " is no program that can be executed: chmod +x it"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := findProgram(folder, record.Implementation{Name: "plain", Command: []string{tc.command, "--flag"}})
			if got != tc.want || (err == nil) != (tc.refusal == "") {
				t.Errorf("it finds %q, %v, want %q", got, err, tc.want)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "implementations[plain].command: "+tc.refusal) {
				t.Errorf("it says %q, want %q", err, tc.refusal)
			}
		})
	}
}

func TestADigestIsThatOfEverythingThatACommandRuns(t *testing.T) {
	folder := t.TempDir()
	program := reexectest.Write(t, filepath.Join(t.TempDir(), "interpreter"), "an interpreter", 0o700)
	script := reexectest.Write(t, filepath.Join(folder, "server.py"), "a script", 0o600)
	of := func(texts ...string) string {
		sum := sha256.Sum256([]byte(strings.Join(texts, "")))
		return "sha256:" + hex.EncodeToString(sum[:])
	}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"the program alone":                     {nil, of("an interpreter")},
		"a script in the folder of the run":     {[]string{"server.py"}, of("an interpreter", "a script")},
		"a script by its whole path":            {[]string{script}, of("an interpreter", "a script")},
		"flags, folders and what is not there":  {[]string{"--port=80", ".", "", "/no/such/file"}, of("an interpreter")},
		"a script between flags, and once more": {[]string{"-u", "server.py", "--again", "./server.py"}, of("an interpreter", "a script", "a script")},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := digest(folder, program, tc.args); err != nil || got != tc.want {
				t.Errorf("it is %s, %v, want %s", got, err, tc.want)
			}
		})
	}
	if _, err := digest(folder, filepath.Join(folder, "nothing"), nil); err == nil || !strings.Contains(err.Error(), "reading the program ") {
		t.Errorf("a program that is not there ends with %v", err)
	}
}

func TestAPortThatIsTakenIsRefused(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "0.0.0.0:0"} {
		taken, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer taken.Close() //nolint:errcheck // Nobody speaks to it.
		port := taken.Addr().(*net.TCPAddr).Port
		err = checkPort("/proc", record.Implementation{Name: "plain", Port: int32(port)})
		if want := fmt.Sprintf("implementations[plain].port: another process of this machine listens on port %d already", port); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s ends with %v, want %s", address, err, want)
		}
	}
	if err := checkPort("/proc", record.Implementation{Name: "plain"}); err != nil {
		t.Errorf("a program without a port ends with %v", err)
	}
}

func TestALoadGeneratorMustBeInstalled(t *testing.T) {
	path := t.TempDir()
	t.Setenv("PATH", path)
	loads := record.Plan{
		Trials: []record.PlannedTrial{{Type: record.Sweep}}, Cells: []record.Cell{{Load: "sweep", Tool: record.ToolWrk}, {Load: "open", Tool: record.ToolK6}},
	}
	missing := checkNeeds(loads)
	if len(missing) != 2 || !strings.HasPrefix(missing[0].Error(), "loads[sweep].tool: wrk is not installed on this machine: install it (") {
		t.Errorf("without any tool it ends with %v", missing)
	}
	reexectest.Write(t, filepath.Join(path, "wrk"), "#!/bin/sh\n", 0o700)
	if missing := checkNeeds(loads); len(missing) != 1 || !strings.HasPrefix(missing[0].Error(), "loads[open].tool: k6 is not installed") {
		t.Errorf("without k6 it ends with %v", missing)
	}
	reexectest.Write(t, filepath.Join(path, "k6"), "#!/bin/sh\n", 0o700)
	if missing := checkNeeds(loads); len(missing) > 0 {
		t.Errorf("with both it ends with %v", missing)
	}
	if missing := checkNeeds(record.Plan{Trials: []record.PlannedTrial{{Type: record.Microbenchmark}}}); len(missing) > 0 {
		t.Errorf("a run without loads ends with %v", missing)
	}
}

func TestEverythingThatTheMachineLacksIsSaidAtOnce(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	r := led(t, quick())
	r.options.Folder = t.TempDir()
	own := r.facts.Plan.Implementations
	own[0].Command, own[0].Image = []string{"./nothing"}, "shop/plain:1"
	own[1].Command, own[1].Image = []string{"nowhere"}, ""
	v := (*kind.Violation)(nil)
	if err := r.checkMachine(t.Context()); !errors.As(err, &v) {
		t.Fatalf("it ends with %v", err)
	}
	var said []string
	for _, one := range v.All() {
		said = append(said, one.Message)
	}
	wrong := strings.Join(said, "\n")
	for _, want := range []string{
		"implementations[" + own[0].Name + "].command: there is no program " + r.options.Folder + "/nothing: ", ", or run it in its image: --images\n",
		"implementations[" + own[1].Name + `].command: there is no program "nowhere" in PATH: install it, or name its path, such as ./nowhere` + "\n",
		"wrk is not installed on this machine",
	} {
		if !strings.Contains(wrong, want) {
			t.Errorf("it says %s\nwant %q", wrong, want)
		}
	}
}
