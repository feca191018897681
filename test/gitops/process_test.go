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
	versions, err := os.ReadFile(filepath.Join(root, "hack", "cluster", "versions.env"))
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^FLUX_VERSION=(\S+)$`).FindSubmatch(versions)
	if version == nil {
		t.Fatal("hack/cluster/versions.env names no version of Flux")
	}
	var folders []string
	for _, name := range []string{"source-controller", "kustomize-controller"} {
		c := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "github.com/fluxcd/"+name+"@v"+string(version[1]))
		c.Dir = t.TempDir() // No module asks for it.
		out, err := c.Output()
		var module struct{ Dir, Error string }
		if e := json.Unmarshal(out, &module); err != nil || e != nil || module.Dir == "" {
			t.Fatalf("looking for the module of %s: %v, %v: %s", name, err, e, out)
		}
		folders = append(folders, filepath.Join(module.Dir, "config", "crd", "bases"))
	}
	return folders
}
