package profiler_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/profiler/callgrind"
	"loadstone.dev/loadstone/internal/profiler/massif"
	"loadstone.dev/loadstone/internal/profiler/memcheck"
)

// image is a root file system without shell and /tmp: a program, the toolbox, and an output folder.
type image struct{ root string }

// toolbox makes the toolbox once, and skips the tests if that is impossible.
func toolbox(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	for _, tool := range []string{"gcc", "valgrind", "strace", "readelf", "dpkg"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the toolbox cannot be made: %v", err)
		}
	}
	if err := exec.Command("unshare", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc", "true").Run(); err != nil {
		t.Skipf("no name spaces for users: %v", err)
	}
	folder := filepath.Join(t.TempDir(), "tools")
	run(t, "../../hack/profile/toolbox.sh", folder)
	return folder
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// build makes an image of a program with planted faults, or of its clean twin.
func build(t *testing.T, tools string, flags ...string) image {
	t.Helper()
	i := image{root: t.TempDir()}
	for _, folder := range []string{"opt/out", "proc", "srv"} {
		if err := os.MkdirAll(filepath.Join(i.root, folder), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(i.root, "srv/program")
	run(t, "gcc", append(flags, "-std=gnu11", "-O1", "-g", "-fno-builtin", "-march=x86-64", "-o", program, "../../hack/profile/planted.c")...)
	run(t, "cp", "-r", tools, filepath.Join(i.root, "opt/tools"))
	if !slices.Contains(flags, "-static") {
		run(t, "sh", "-c", `cp -L --parents $(ldd "$1" | grep -o '/[^ ]*') "$0"`, i.root, program)
	}
	return i
}

func (i image) profiled(t *testing.T, tool profiler.Tool) int {
	t.Helper()
	w, err := profiler.Command(tool, profiler.Folders{Toolbox: "/opt/tools", Output: "/opt/out"}, []string{"/srv/program", "100"})
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--map-root-user", "--mount", "--pid", "--fork", "--mount-proc=" + filepath.Join(i.root, "proc"), "/usr/sbin/chroot", i.root}
	cmd := exec.Command("unshare", append(args, w.Argv...)...)
	cmd.Env = w.Env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Logf("%s: %v\n%s", tool, err, out.String())
	}
	return cmd.ProcessState.ExitCode()
}

func output[T any](t *testing.T, i image, name profiler.Output, parse func(io.Reader) (T, error)) T {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(i.root, "opt/out", string(name)))
	if err != nil || len(files) != 1 {
		t.Fatalf("%s: files %q, error %v", name, files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	v, err := parse(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func judged(t *testing.T, i image, program profiler.Program) (profiler.Verdicts, memcheck.Result) {
	t.Helper()
	code := i.profiled(t, profiler.Memcheck)
	r := output(t, i, profiler.OutputXML, memcheck.Parse)
	return profiler.Judge(profiler.Evidence{
		Result: r, Heap: output(t, i, profiler.OutputHeap, memcheck.ParseHeap), Messages: output(t, i, profiler.OutputLog, profiler.ParseMessages),
		Exit: profiler.Exit{Code: code}, Requests: 100, Program: program,
	}), r
}

func TestTheToolboxWorksInImagesWithoutAnything(t *testing.T) {
	tools := toolbox(t)
	planted, clean := build(t, tools, "-DPLANTED"), build(t, tools)
	static := build(t, tools, "-DPLANTED", "-static")

	t.Run("memcheck finds what is planted", func(t *testing.T) {
		v, r := judged(t, planted, profiler.Program{})
		if v.Errors.Answer != profiler.Found || v.Leaks.Answer != profiler.Found {
			t.Errorf("verdicts %+v", v)
		}
		if len(r.Errors) != 1 || memcheck.Site(r.Errors[0].Stack).Function != "decide" || memcheck.Site(r.Leaks[0].Stack).Function != "answer" {
			t.Errorf("errors %+v, leaks %+v", r.Errors, r.Leaks)
		}
	})
	t.Run("memcheck finds nothing in the clean twin", func(t *testing.T) {
		if v, _ := judged(t, clean, profiler.Program{}); v.Errors.Answer != profiler.Clean || v.Leaks.Answer != profiler.Clean {
			t.Errorf("verdicts %+v", v)
		}
	})
	t.Run("memcheck does not call a static program free of leaks", func(t *testing.T) {
		v, _ := judged(t, static, profiler.Program{Static: true})
		if v.Errors.Answer != profiler.Inconclusive || v.Leaks.Answer != profiler.Inconclusive || v.Leaks.Reasons[0].Code != profiler.AllocatorUnseen {
			t.Errorf("verdicts %+v", v)
		}
	})
	t.Run("massif sees the leak grow", func(t *testing.T) {
		planted.profiled(t, profiler.Massif)
		clean.profiled(t, profiler.Massif)
		grown, level := output(t, planted, profiler.OutputMassif, massif.Parse).PeakHeap(), output(t, clean, profiler.OutputMassif, massif.Parse).PeakHeap()
		if level == 0 || grown < 5*level {
			t.Errorf("the peak is %d bytes with a leak, and %d without", grown, level)
		}
	})
	t.Run("massif sees the pages of a static program", func(t *testing.T) {
		static.profiled(t, profiler.MassifPages)
		if !output(t, static, profiler.OutputMassif, massif.Parse).HeapSeen() {
			t.Error("no pages were seen")
		}
	})
	t.Run("callgrind finds the slow function", func(t *testing.T) {
		for _, i := range []image{planted, static} {
			i.profiled(t, profiler.Callgrind)
			p := output(t, i, profiler.OutputCallgrind, callgrind.Parse)
			if top := p.TopSelf(0, 1)[0]; top.Name != "checksum" || !strings.HasSuffix(top.File, "planted.c") {
				t.Errorf("the slowest function is %+v", top)
			}
		}
	})
	t.Run("cachegrind finds it, too", func(t *testing.T) {
		static.profiled(t, profiler.Cachegrind)
		if top := output(t, static, profiler.OutputCachegrind, callgrind.Parse).TopSelf(0, 1)[0]; top.Name != "checksum" {
			t.Errorf("the slowest function is %+v", top)
		}
	})
	t.Run("strace finds the system call", func(t *testing.T) {
		for _, i := range []image{planted, static} {
			i.profiled(t, profiler.Strace)
			r := output(t, i, profiler.OutputStrace, profiler.ParseSystemCalls)
			if !slices.ContainsFunc(r.Calls, func(c profiler.Call) bool { return c.Name == "getppid" && c.Count == 100 }) {
				t.Errorf("calls %+v", r.Calls)
			}
		}
	})
}
