package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/test/firewall"
)

const (
	// policyTable is the nftables table for NetworkPolicies. hack/cluster/down.sh also removes it, because a killed test leaves it.
	policyTable = "loadstone-e2e"
	// opened limits how long a connection attempt takes on a busy machine.
	opened = 2 * time.Minute
)

// With enforced NetworkPolicies a run has everything that it needs. Other pods cannot reach its pods, and its pods cannot reach them.
func TestNetworkPolicyIsolatesRun(t *testing.T) {
	e := enforce(t)
	intruder := bystander(t, "intruder", func(*corev1.Pod) {})
	// It is on the servers' bridge, so traffic between them is not routed.
	neighbour := bystander(t, "neighbour", func(p *corev1.Pod) {
		p.Labels = map[string]string{v1alpha1.LabelRunUID: "of-another-run"}
		p.Spec.NodeSelector = map[string]string{v1alpha1.LabelRole: v1alpha1.RoleServer}
		p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	})
	awaitRunning(t, intruder)
	awaitRunning(t, neighbour)
	confined := small("confined", func(s *v1alpha1.BenchmarkRunSpec) { s.Blocks = 2 })
	mustApply(t, confined)
	awaitSuccess(t, confined, 5*time.Minute)

	besieged := small("besieged", func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].DurationSeconds = 3600 })
	mustApply(t, besieged)
	await(t, besieged, 5*time.Minute, "measuring", measuring(t))
	server, generator := measuredPod(t, besieged, v1alpha1.RoleServer), measuredPod(t, besieged, v1alpha1.RoleGenerator)
	operator, store := installed(t, "operator"), installed(t, "minio")
	connections := []connection{
		{intruder, server, 8080},
		{intruder, server, protocol.Port},
		{intruder, generator, protocol.Port},
		{neighbour, server, 8080},
		{neighbour, server, protocol.Port},
		{neighbour, generator, protocol.Port},
		{server, intruder, 8080},
		{server, neighbour, 8080},
		{generator, intruder, 8080},
		{generator, neighbour, 8080},
		{intruder, operator, named(t, operator, "trials")},
		{intruder, store, named(t, store, "s3")},
		{server, operator, named(t, operator, "trials")},
	}
	if err := e.catchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	openEach(t, connections, func(c connection, err error) {
		if !errors.Is(err, unix.EHOSTUNREACH) {
			t.Errorf("%s: got %v, want it refused", c, err)
		}
	})
	e.lift()
	openEach(t, connections, func(c connection, err error) {
		if err != nil {
			t.Errorf("%s cannot be opened where no policy is enforced either, so that its refusal shows nothing: %v", c, err)
		}
	})
}

// enforcer enforces NetworkPolicies, because hack/cluster's network plugin does not.
type enforcer struct {
	t      *testing.T
	client client.WithWatch
	// loaded are the active rules. mu is held while they are replaced.
	mu     sync.Mutex
	loaded string
	// stop ends the goroutine that follows the cluster, which then closes ended.
	stop  context.CancelFunc
	ended chan struct{}
}

// enforce enforces the policies of the tests and the installation until they are lifted or the test ends.
func enforce(t *testing.T) *enforcer {
	t.Helper()
	cluster, err := config.GetConfig()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	e := &enforcer{t: t, stop: stop, ended: make(chan struct{})}
	if e.client, err = client.NewWithWatch(cluster, client.Options{}); err != nil {
		t.Fatal(err)
	}
	var changes []<-chan watch.Event
	for _, list := range []client.ObjectList{&networkingv1.NetworkPolicyList{}, &corev1.PodList{}} {
		w, err := e.client.Watch(ctx, list)
		if err != nil {
			t.Fatal(err)
		}
		changes = append(changes, w.ResultChan())
	}
	if err := e.catchUp(ctx); err != nil {
		t.Fatal(err)
	}
	go e.follow(ctx, changes[0], changes[1])
	t.Cleanup(e.lift)
	return e
}

// follow updates the rules when the cluster changes.
func (e *enforcer) follow(ctx context.Context, policies, pods <-chan watch.Event) {
	defer close(e.ended)
	for {
		var watched bool
		select {
		case _, watched = <-policies:
		case _, watched = <-pods:
		}
		err := e.catchUp(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil || !watched:
			e.t.Errorf("policies are enforced no more; the cluster is watched: %v; %v", watched, err)
			return
		}
	}
}

// catchUp returns when all policies that existed at its call are active.
func (e *enforcer) catchUp(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var policies networkingv1.NetworkPolicyList
	var namespaces corev1.NamespaceList
	var pods corev1.PodList
	for _, list := range []client.ObjectList{&policies, &namespaces, &pods} {
		if err := e.client.List(ctx, list); err != nil {
			return fmt.Errorf("listing policies and whom they select: %w", err)
		}
	}
	ours := slices.DeleteFunc(policies.Items, func(p networkingv1.NetworkPolicy) bool { return p.Namespace != system && p.Namespace != namespace })
	rules, err := firewall.Rules(policyTable, ours, namespaces.Items, pods.Items)
	if err != nil || rules == e.loaded {
		return err
	}
	if err := nft(ctx, rules); err != nil {
		return err
	}
	e.loaded = rules
	return nil
}

func (e *enforcer) lift() {
	e.stop()
	<-e.ended
	if e.loaded == "" {
		return
	}
	e.loaded = ""
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := nft(ctx, "delete table ip "+policyTable); err != nil {
		e.t.Error(err)
	}
}

func nft(ctx context.Context, text string) error {
	c := exec.CommandContext(ctx, "nft", "-f", "-")
	c.Stdin = strings.NewReader(text)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("nft: %w: %s\n%s", err, out, text)
	}
	return nil
}

// bystander is a pod in the tests' namespace outside any run. It answers on port 8080.
func bystander(t *testing.T, name string, delta func(*corev1.Pod)) *corev1.Pod {
	t.Helper()
	user := int64(65532)
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: corev1.PodSpec{
			SecurityContext:               &corev1.PodSecurityContext{RunAsUser: &user},
			TerminationGracePeriodSeconds: new(int64),
			Containers: []corev1.Container{{
				Name: "server", Image: image("gohttp"), Command: []string{"/usr/local/bin/gohttp", "--port=8080"}, SecurityContext: restricted(),
			}},
		},
	}
	delta(p)
	if err := loadstone.Client.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := loadstone.Client.Delete(context.Background(), p); err != nil {
			t.Error(err)
		}
	})
	return p
}

// measuredPod returns the pod of a role in the measuring trial.
func measuredPod(t *testing.T, run *v1alpha1.BenchmarkRun, role string) *corev1.Pod {
	t.Helper()
	var pods corev1.PodList
	labels := client.MatchingLabels{v1alpha1.LabelRunUID: string(run.UID), v1alpha1.LabelRole: role}
	if err := loadstone.Client.List(t.Context(), &pods, client.InNamespace(run.Namespace), labels); err != nil || len(pods.Items) != 1 {
		t.Fatalf("%s has %d pods of role %s: %v", run.Name, len(pods.Items), role, err)
	}
	return &pods.Items[0]
}

func installed(t *testing.T, name string) *corev1.Pod {
	t.Helper()
	p, err := onlyPod(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// named returns the number of a named port of the first container.
func named(t *testing.T, p *corev1.Pod, name string) int32 {
	t.Helper()
	for _, port := range p.Spec.Containers[0].Ports {
		if port.Name == name {
			return port.ContainerPort
		}
	}
	t.Fatalf("pod %s has no port %s", p.Name, name)
	return 0
}

// connection goes from a pod to a port of another one.
type connection struct {
	from, to *corev1.Pod
	port     int32
}

func (c connection) String() string {
	return fmt.Sprintf("a connection from %s to port %d of %s", c.from.Name, c.port, c.to.Name)
}

// openEach opens connections concurrently and reports each result.
func openEach(t *testing.T, connections []connection, tell func(connection, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), opened)
	defer cancel()
	became := make([]error, len(connections))
	var all sync.WaitGroup
	for i, c := range connections {
		all.Go(func() {
			// The thread stays locked and ends with the goroutine, so no other goroutine runs in the pod's network.
			runtime.LockOSThread()
			became[i] = c.open(ctx)
		})
	}
	all.Wait()
	for i, c := range connections {
		tell(c, became[i])
	}
}

// open opens and closes a connection from a pod's network on this machine. The thread stays in that network.
func (c connection) open(ctx context.Context) error {
	pids, err := processes(c.from)
	if err != nil {
		return err
	}
	if len(pids) == 0 {
		return fmt.Errorf("pod %s has no process on this machine", c.from.Name)
	}
	network, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pids[0]))
	if err != nil {
		return err
	}
	defer network.Close() //nolint:errcheck // It is only entered.
	if err := unix.Setns(int(network.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("entering the network of %s: %w", c.from.Name, err)
	}
	// A socket belongs to the network of the thread that creates it. For an IP address that is this thread.
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp4", net.JoinHostPort(c.to.Status.PodIP, fmt.Sprint(c.port)))
	if err != nil {
		return err
	}
	return conn.Close()
}
