package testbed

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

var (
	mu    sync.Mutex
	stops []func() error
)

// Main runs a package's tests, then ends the servers that they started. It returns the exit code.
func Main(m *testing.M) int {
	stopWhenEnded()
	code := m.Run()
	tally.tell()
	return max(code, stopAll())
}

// AtOnce sets the number of parallel tests unless -parallel does. Tests with servers mostly wait, so more fit than CPUs.
func AtOnce(tests int) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(tests)); err != nil {
		panic(err)
	}
}

// stopWhenEnded ends the servers on a signal, as from hack/test.sh. API servers have their own process groups, so nothing else ends them.
func stopWhenEnded() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	go func() {
		<-ended
		signal.Ignore(syscall.SIGPIPE) // The reader of the output may be gone.
		stopAll()
		os.Exit(1)
	}()
}

func stopAll() int {
	mu.Lock()
	defer mu.Unlock()
	code := 0
	for _, stop := range slices.Backward(stops) {
		if err := stop(); err != nil {
			fmt.Fprintln(os.Stderr, "testbed:", err)
			code = 1
		}
	}
	stops = nil
	return code
}

func onEnd(stop func() error) {
	mu.Lock()
	defer mu.Unlock()
	stops = append(stops, stop)
}

// Assets returns the folder with the programs: KUBEBUILDER_ASSETS, or where hack/cluster/build.sh puts them.
func Assets() string {
	if dir := os.Getenv("KUBEBUILDER_ASSETS"); dir != "" {
		return dir
	}
	if dir := os.Getenv("LOADSTONE_CACHE"); dir != "" {
		return filepath.Join(dir, "bin")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".cache", "loadstone", "bin")
}

// Programs skips a test that needs installed programs in short mode, or if one is not in PATH. In CI a missing program is a failure.
func Programs(t *testing.T, programs ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("real programs are left out in short mode")
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err == nil {
			continue
		}
		if os.Getenv("CI") != "" {
			t.Fatalf("%s is not in PATH", p)
		}
		t.Skipf("%s is not in PATH", p)
	}
}

func need(t *testing.T, programs ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("real servers are left out in short mode")
	}
	for _, p := range programs {
		if _, err := os.Stat(filepath.Join(Assets(), p)); err == nil {
			continue
		}
		const how = "%s is not in %q: build it with hack/cluster/build.sh, or set KUBEBUILDER_ASSETS"
		if os.Getenv("CI") != "" {
			t.Fatalf(how, p, Assets())
		}
		t.Skipf(how, p, Assets())
	}
}

// Patience bounds waits of tests, for a busy machine that is ten times slower. Only failing tests wait so long.
const Patience = 10 * time.Minute

// LookEvery is the polling interval. Each poll costs milliseconds of the shared CPUs.
const LookEvery = 50 * time.Millisecond

// Await waits until done, or fails the test; what describes it.
func Await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Patience); !done(); time.Sleep(LookEvery) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

var cluster struct {
	once   sync.Once
	config *rest.Config
	err    error
}

// Cluster returns a Kubernetes API server with the CRDs of config/crd/bases, without controllers, scheduler and kubelet.
func Cluster(t *testing.T, root string) *rest.Config {
	t.Helper()
	need(t, "kube-apiserver", "etcd", "kubectl")
	cluster.once.Do(func() {
		env := &envtest.Environment{
			BinaryAssetsDirectory: Assets(),
			CRDDirectoryPaths:     []string{filepath.Join(root, "config", "crd", "bases")},
			ErrorIfCRDPathMissing: true,
			// The default of twenty seconds is too short on busy CPUs.
			ControlPlaneStartTimeout: Patience, ControlPlaneStopTimeout: Patience,
			CRDInstallOptions: envtest.CRDInstallOptions{MaxTime: Patience},
		}
		// As on OpenShift: a blocking owner reference requires the right to the owner's finalizers.
		env.ControlPlane.GetAPIServer().Configure().Append("enable-admission-plugins", "OwnerReferencesPermissionEnforcement")
		onEnd(env.Stop) // Registered first, since a signal may come during the start.
		cluster.config, cluster.err = env.Start()
	})
	if cluster.err != nil {
		t.Fatalf("starting an API server: %v", cluster.err)
	}
	return rest.CopyConfig(cluster.config)
}

// Ports for FreeAddress: the system does not use them for ephemeral ports, nor Kubernetes for Services.
const firstPort, ports, portTries = 20000, 10000, 1000

// FreeAddress returns a free loopback address, unique among all test processes of this machine, since an earlier caller may be about to
// listen. An abstract socket reserves it until the process ends.
func FreeAddress() (string, error) {
	var taken error
	for range portTries {
		port := strconv.Itoa(firstPort + rand.IntN(ports))
		reserved, err := net.Listen("unix", "@loadstone-testbed-"+port)
		if err != nil {
			taken = err
			continue
		}
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			taken = errors.Join(err, reserved.Close())
			continue
		}
		kept.Store(port, reserved)
		return l.Addr().String(), l.Close()
	}
	return "", fmt.Errorf("looking for a free port %d times: %w", portTries, taken)
}

// kept holds the reservations, which garbage collection would close.
var kept sync.Map

// Beside runs do in the background until the test ends. Its error fails the test.
func Beside(t *testing.T, do func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- do(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
