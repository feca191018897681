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

// Main runs the tests of a package and then ends the servers that they have started. It returns the exit code.
func Main(m *testing.M) int {
	stopWhenEnded()
	code := m.Run()
	tally.tell()
	return max(code, stopAll())
}

// AtOnce says how many parallel tests go on at once, unless -parallel does. Tests with servers wait most of the time: more fit than there are CPUs.
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

// stopWhenEnded ends the servers when somebody ends the tests, as hack/test.sh does when it is interrupted: those of an API server are in
// process groups of their own, and nobody else ends them.
func stopWhenEnded() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	go func() {
		<-ended
		signal.Ignore(syscall.SIGPIPE) // Who reads what the tests say may have ended before.
		stopAll()
		os.Exit(1)
	}()
}

// stopAll ends all servers, and returns an exit code.
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

// Assets is the folder with the programs: KUBEBUILDER_ASSETS, else where hack/cluster/build.sh leaves them.
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

// Programs skips a test that runs programs of the machine in short mode, and when they are not in PATH; in CI a missing program is a
// failure, since nobody would notice.
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

// need is Programs for the servers that hack/cluster/build.sh builds.
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

// Patience is how long tests wait for anything: far longer than it takes on a machine ten times slower that tests other things meanwhile. Only a test that
// fails waits so long.
const Patience = 10 * time.Minute

// Await waits until something has come about, which what names, and fails the test if it does not.
func Await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Patience); !done(); time.Sleep(20 * time.Millisecond) {
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

// Cluster is a Kubernetes API server with the project's CRDs, found in config/crd/bases of the repository's root. It has no
// controllers, no scheduler and no kubelet.
func Cluster(t *testing.T, root string) *rest.Config {
	t.Helper()
	need(t, "kube-apiserver", "etcd", "kubectl")
	cluster.once.Do(func() {
		env := &envtest.Environment{
			BinaryAssetsDirectory: Assets(),
			CRDDirectoryPaths:     []string{filepath.Join(root, "config", "crd", "bases")},
			ErrorIfCRDPathMissing: true,
			// The twenty seconds that it takes for granted are gone when each of two CPUs is asked for by ten.
			ControlPlaneStartTimeout: Patience, ControlPlaneStopTimeout: Patience,
			CRDInstallOptions: envtest.CRDInstallOptions{MaxTime: Patience},
		}
		// As OpenShift does: whoever sets an owner reference that blocks its owner's deletion needs the right to the owner's finalizers.
		env.ControlPlane.GetAPIServer().Configure().Append("enable-admission-plugins", "OwnerReferencesPermissionEnforcement")
		onEnd(env.Stop) // Before, since who ends the tests may do so while it starts.
		cluster.config, cluster.err = env.Start()
	})
	if cluster.err != nil {
		t.Fatalf("starting an API server: %v", cluster.err)
	}
	return rest.CopyConfig(cluster.config)
}

// Ports of FreeAddress: the system gives none of them to those who ask for any port, or connect from any, and Kubernetes none to Services.
const firstPort, ports, portTries = 20000, 10000, 1000

// FreeAddress is an address on the loopback interface on which nobody listens. It is another one each time, in all processes of tests of this machine:
// who got one before may be about to listen there. What reserves it, a name in the network's own memory, ends with the process.
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

// kept are the reservations of the ports that FreeAddress has given: what nobody refers to any more would be closed.
var kept sync.Map

// Beside does something beside a test, until the test ends. Its error fails the test.
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
