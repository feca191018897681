package gitops

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// controller is one of Flux' controllers, as hack/cluster/build.sh builds it: a process that can be ended and started again.
type controller struct {
	t    *testing.T
	name string
	args []string
	env  []string
	log  string
	c    *exec.Cmd
	// ended is closed when the process has ended.
	ended chan struct{}
}

// newController starts one. What it has said is shown if the test fails.
func newController(t *testing.T, name, kubeconfig string, args ...string) *controller {
	t.Helper()
	p := &controller{t: t, name: name, log: filepath.Join(t.TempDir(), name+".log")}
	p.args = append([]string{"--metrics-addr=0", "--health-addr=0", "--events-addr=", "--requeue-dependency=1s"}, args...)
	p.env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "RUNTIME_NAMESPACE="+fluxNamespace)
	p.start()
	t.Cleanup(func() {
		p.stop()
		if said, err := os.ReadFile(p.log); t.Failed() {
			t.Logf("%s has said (%v):\n%s", name, err, said[max(0, len(said)-20000):])
		}
	})
	return p
}

// start starts the process, which dies with the thread that has started it.
func (p *controller) start() {
	p.t.Helper()
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	p.c = exec.Command(p.name, p.args...)
	p.c.Env, p.c.Stdout, p.c.Stderr = p.env, log, log
	p.c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	ended := make(chan struct{})
	p.ended = ended
	go func() {
		runtime.LockOSThread()
		defer close(ended)
		defer func() { _ = log.Close() }() // The process has its own.
		err := p.c.Start()
		started <- err
		if err == nil {
			_ = p.c.Wait() // It ends by a signal.
		}
	}()
	if err := <-started; err != nil {
		p.t.Fatalf("starting %s: %v", p.name, err)
	}
}

// stop ends the process as a kubelet does.
func (p *controller) stop() {
	p.t.Helper()
	_ = p.c.Process.Signal(syscall.SIGTERM) // It may have ended by itself: the test sees that by what is missing.
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.Errorf("%s does not end", p.name)
		_ = p.c.Process.Kill()
	}
}

// definitions are the folders with the definitions of Flux' kinds, in Go's cache of modules: those of the version that is built.
func definitions(t *testing.T) []string {
	t.Helper()
	var folders []string
	for _, name := range []string{"source-controller", "kustomize-controller"} {
		folders = append(folders, filepath.Join(module(t, "github.com/fluxcd/"+name, "FLUX_VERSION"), "config", "crd", "bases"))
	}
	return folders
}

// module is the folder of a module in Go's cache, in the version that hack/cluster/versions.env gives it by a name.
func module(t *testing.T, path, name string) string {
	t.Helper()
	versions, err := os.ReadFile(filepath.Join(root, "hack", "cluster", "versions.env"))
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^` + name + `=(\S+)$`).FindSubmatch(versions)
	if version == nil {
		t.Fatalf("hack/cluster/versions.env has no %s", name)
	}
	c := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", path+"@v"+string(version[1]))
	c.Dir = t.TempDir() // No module asks for it.
	out, err := c.Output()
	var found struct{ Dir, Error string }
	if e := json.Unmarshal(out, &found); err != nil || e != nil || found.Dir == "" {
		t.Fatalf("looking for the module %s: %v, %v: %s", path, err, e, out)
	}
	return found.Dir
}
