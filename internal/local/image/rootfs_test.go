package image

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const nobody = 65534

// TestMain lets the test binary start others in a sandbox, or enter one.
func TestMain(m *testing.M) {
	var err error
	switch {
	case len(os.Args) == 3 && os.Args[1] == "start":
		err = startRoot(os.Args[2])
	case len(os.Args) == 3 && os.Args[1] == ContainCommand:
		err = enterRoot(os.Args[2])
	case len(os.Args) == 2 && os.Args[1] == "filter":
		err = callAll()
	case len(os.Args) == 2 && os.Args[1] == "unpermitted":
		err = askForSandbox()
	case len(os.Args) == 2 && os.Args[1] == ContainCommand:
		err = Hold(os.Stdin)
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func startRoot(text string) error {
	var r Root
	err := json.Unmarshal([]byte(text), &r)
	if err == nil {
		r.Users, err = FreeUsers()
	}
	if err != nil {
		return err
	}
	cmd, err := r.Command()
	if err != nil {
		return err
	}
	defer Close(cmd)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

func enterRoot(text string) error {
	runtime.LockOSThread()
	var r Root
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return err
	}
	if err := r.Enter(); err != nil {
		return err
	}
	return r.Exec()
}

// programs are those of testdata that were built.
var programs = map[string][]byte{}

// built is the folder of an image with a program of testdata.
func built(t *testing.T, program string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "loadstone-rootfs-*") //nolint:usetesting // The folder of a test can be entered by nobody else.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if programs[program] == nil {
		path := filepath.Join(t.TempDir(), program)
		build := exec.CommandContext(t.Context(), "go", "build", "-o", path, "./testdata/"+program)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("building the program: %v: %s", err, out)
		}
		if programs[program], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, program), programs[program], 0o755); err != nil {
		t.Fatal(err)
	}
	for _, place := range append(MountFolders(), "etc", "data") {
		if err := os.Mkdir(filepath.Join(dir, place), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, HostsFile), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func start(t *testing.T, r Root, user int) (map[string]string, error) {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	// Another user may not read the folder of the test binary.
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close() //nolint:errcheck // It is only executed.
	cmd := exec.CommandContext(t.Context(), "/proc/self/fd/3", "start", string(text))
	cmd.ExtraFiles = []*os.File{self}
	cmd.SysProcAttr, cmd.Dir = as(user), "/"
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := err.(*exec.ExitError); ok { //nolint:errorlint // Output returns it as it is.
			return nil, fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return nil, err
	}
	seen := map[string]string{}
	return seen, json.Unmarshal(out, &seen)
}

func process(uid, gid int) Process {
	return Process{Argv: []string{"/probe", "--flag"}, Env: []string{"COLOUR=red"}, Folder: "/data", UID: uid, GID: gid}
}

func TestAProcessSeesItsImageAlone(t *testing.T) {
	if !ChangesUser() {
		t.Skip("only root can be another user")
	}
	dir, exchange := built(t, "probe"), t.TempDir()
	everything := map[string]string{
		"folder": "/data", "env": "COLOUR=red", "args": "/probe --flag", "/own": "refused", "/proc/sys/kernel/hostname": "refused", "/etc/hosts": "refused", "chmod /dev/null": "refused",
		"root": ".loadstone data dev etc probe proc sys tmp", "CapBnd": "0000000000000000", "CapEff": "0000000000000000", "NoNewPrivs": "1", "Seccomp": "2",
	}
	for name, tc := range map[string]struct {
		root   Root
		user   int
		differ map[string]string
	}{
		"root":                     {Root{Dir: dir, Processes: mostInImage, Process: process(0, 0)}, 0, map[string]string{"Uid": "0 0 0 0", "Gid": "0 0 0 0", "/.loadstone/own": "refused"}},
		"the user of the image":    {Root{Dir: dir, Processes: mostInImage, Process: process(1234, 5678)}, 0, map[string]string{"Uid": "1234 1234 1234 1234", "Gid": "5678 5678 5678 5678", "/.loadstone/own": "refused"}},
		"root with an exchange":    {Root{Dir: dir, Processes: mostInImage, Process: process(0, 0), Exchange: exchange}, 0, map[string]string{"Uid": "0 0 0 0", "Gid": "0 0 0 0"}},
		"somebody who is not root": {Root{Dir: dir, Processes: mostInImage, Process: process(0, 0)}, nobody, map[string]string{"Uid": "0 0 0 0", "Gid": "0 0 0 0", "/.loadstone/own": "refused"}},
	} {
		t.Run(name, func(t *testing.T) {
			permitted(t, tc.user)
			got, err := start(t, tc.root, tc.user)
			if err != nil {
				t.Fatal(err)
			}
			for key, value := range everything {
				tc.differ[key] = value
			}
			if diff := cmp.Diff(tc.differ, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	if left, err := os.ReadFile("/proc/self/mounts"); err != nil || strings.Contains(string(left), dir) {
		t.Errorf("it leaves mounts, %v:\n%s", err, left)
	}
}

// permitted skips a test if this machine forbids a user sandboxes.
func permitted(t *testing.T, user int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "unshare", "--mount", "--pid", "--fork", "--mount-proc", "--map-root-user", "true")
	cmd.SysProcAttr = as(user)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("this machine permits user %d no sandbox: %v: %s", user, err, out)
	}
}

func TestARootFileSystemThatIsNotThereIsAnError(t *testing.T) {
	permitted(t, os.Geteuid())
	for name, tc := range map[string]struct {
		root Root
		want string
	}{
		"no folder":            {Root{Dir: "/no/such/folder", Processes: mostInImage, Process: process(0, 0)}, "opening the folder /no/such/folder for an image"},
		"no working directory": {Root{Dir: built(t, "probe"), Processes: mostInImage, Process: Process{Argv: []string{"/probe"}, Folder: "/none"}}, "changing to the working directory of the image"},
		"no program":           {Root{Dir: built(t, "probe"), Processes: mostInImage, Process: Process{Argv: []string{"/none"}, Folder: "/"}}, "starting /none in its image"},
	} {
		_, err := start(t, tc.root, os.Geteuid())
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s ends with %v, want %s", name, err, tc.want)
		}
	}
}
