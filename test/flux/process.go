package flux

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/testbed"
)

// Place is where Flux' controllers run.
type Place struct {
	// Kubeconfig is the file for the API server.
	Kubeconfig string
	// Namespace is the controllers' own. With Alone they watch no other.
	Namespace string
	Alone     bool
	// CPU is the only CPU that they may use; empty for all.
	CPU string
}

// Start starts both controllers and returns when they run. This machine serves their artifacts.
func (p Place) Start(t *testing.T) []*Controller {
	t.Helper()
	testbed.Programs(t, "source-controller", "kustomize-controller")
	free, err := testbed.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	// It listens there again after a restart. With a separate address, no other test can take the port meanwhile.
	address := strings.Replace(free, "127.0.0.1", "127.66.66.66", 1)
	return []*Controller{
		p.start(t, "source-controller", "--storage-path="+t.TempDir(), "--storage-addr="+address, "--storage-adv-addr="+address),
		p.start(t, "kustomize-controller", "--no-remote-bases", "--no-cross-namespace-refs"),
	}
}

// Controller is a process of a Flux controller that can be stopped and restarted.
type Controller struct {
	t       *testing.T
	name    string
	command []string
	env     []string
	log     string
	c       *exec.Cmd
	// ended is closed when the process has ended.
	ended chan struct{}
}

func (p Place) start(t *testing.T, name string, args ...string) *Controller {
	t.Helper()
	c := &Controller{t: t, name: name, log: filepath.Join(t.TempDir(), name+".log")}
	if p.CPU != "" {
		testbed.Programs(t, "taskset")
		c.command = []string{"taskset", "--cpu-list", p.CPU}
	}
	c.command = append(c.command, name, "--metrics-addr=0", "--health-addr=0", "--events-addr=", "--requeue-dependency=1s")
	if p.Alone {
		c.command = append(c.command, "--watch-all-namespaces=false")
	}
	c.command = append(c.command, args...)
	c.env = append(os.Environ(), "KUBECONFIG="+p.Kubeconfig, "RUNTIME_NAMESPACE="+p.Namespace)
	c.Start()
	t.Cleanup(func() {
		c.Stop()
		if said, err := os.ReadFile(c.log); t.Failed() {
			t.Logf("%s has said (%v):\n%s", name, err, said[max(0, len(said)-20000):])
		}
	})
	return c
}

// Start starts the process, which dies with the thread that started it.
func (c *Controller) Start() {
	c.t.Helper()
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	c.c = exec.Command(c.command[0], c.command[1:]...)
	c.c.Env, c.c.Stdout, c.c.Stderr = c.env, log, log
	c.c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	ended := make(chan struct{})
	c.ended = ended
	go func() {
		runtime.LockOSThread()
		defer close(ended)
		defer func() { _ = log.Close() }() // The process has its own.
		err := c.c.Start()
		started <- err
		if err == nil {
			_ = c.c.Wait() // It ends by a signal.
		}
	}()
	if err := <-started; err != nil {
		c.t.Fatalf("starting %s: %v", c.name, err)
	}
}

// Stop ends the process as a kubelet does.
func (c *Controller) Stop() {
	c.t.Helper()
	_ = c.c.Process.Signal(syscall.SIGTERM) // If it ended by itself, the test fails elsewhere.
	select {
	case <-c.ended:
	case <-time.After(Patience):
		c.t.Errorf("%s does not end", c.name)
		_ = c.c.Process.Kill()
	}
}

// Definitions are the folders with Flux' definitions in Go's module cache, in the built version. root is the repository's root.
func Definitions(t *testing.T, root string) []string {
	t.Helper()
	var folders []string
	for _, name := range []string{"source-controller", "kustomize-controller"} {
		folders = append(folders, filepath.Join(Module(t, root, "github.com/fluxcd/"+name, "FLUX_VERSION"), "config", "crd", "bases"))
	}
	return folders
}

// Module is the folder of a module in Go's cache, in the version that hack/cluster/versions.env has under name. root is the repository's root.
func Module(t *testing.T, root, path, name string) string {
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
