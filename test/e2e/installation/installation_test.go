package installation

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/test/e2e/registry"
)

const (
	root   = "../../.."
	system = "loadstone-system"
	// The object store runs on node. upgraded is the tag of the second version.
	node, upgraded = "infra", "upgraded"
	// patience limits each command on a busy machine.
	patience = 10 * time.Minute
)

// Uninstalling during a run leaves nothing of that run. The next installation stores on a volume, and its results survive an upgrade of all images.
// The page's uninstall commands then remove everything.
func TestInstallUpgradeAndUninstall(t *testing.T) {
	if os.Getenv("CI") == "" || os.Getenv("KUBECONFIG") == "" {
		t.Skip("it uninstalls Loadstone: `make test-cluster` runs it, on a cluster of its own")
	}
	if left := kubectl(t, "get", "benchmarkruns.loadstone.dev", "--all-namespaces", "--output", "name"); left != "" {
		t.Fatalf("it uninstalls Loadstone, and the cluster holds runs: %s", left)
	}
	kubectl(t, "apply", "--filename", runFile(t, "going", 120))
	measuring(t, "going")
	run(t, nil, "helm", "uninstall", "loadstone", "--namespace", system, "--timeout", "5m")
	checkNothingIsLeftOf(t, "going")

	volume(t)
	deploy(t)
	if bound := kubectl(t, "get", "persistentvolumeclaims", "--namespace", system, "--output", "jsonpath={.items[*].status.phase}"); bound != "Bound" {
		t.Errorf("the claims of the object store are %q, want one that is bound", bound)
	}
	kubectl(t, "apply", "--filename", runFile(t, "kept", 1))
	kubectl(t, "wait", "--for=jsonpath={.status.completionTime}", "benchmarkruns.loadstone.dev/kept", "--timeout=3m")
	before := report(t)
	tagImages(t)
	deploy(t, "TAG="+upgraded)
	awaitImages(t)
	if after := report(t); after != before {
		t.Errorf("after the upgrade the report has %d bytes, before it had %d", len(after), len(before))
	}

	for _, command := range uninstalling(t) {
		run(t, nil, "bash", "-euo", "pipefail", "-c", command)
	}
	for _, kind := range []string{"namespaces", "customresourcedefinitions", "clusterroles", "clusterrolebindings", "priorityclasses"} {
		for name := range strings.FieldsSeq(kubectl(t, "get", kind, "--output", "name")) {
			if strings.Contains(name, "loadstone") {
				t.Errorf("uninstalling has left %s", name)
			}
		}
	}
}

// runFile writes a run of one server and one cell.
func runFile(t *testing.T, name string, seconds int) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name+".yaml")
	text := fmt.Sprintf(`apiVersion: loadstone.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: %s, namespace: default}
spec:
  implementations:
  - {name: go, image: "localhost/loadstone/gohttp:dev", port: 8080}
  loads:
  - {name: l, tool: wrk, levels: [{connections: 4}], warmupSeconds: 0, durationSeconds: %d}
  blocks: 1
`, name, seconds)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// measuring waits until a trial of a run measures.
func measuring(t *testing.T, name string) {
	t.Helper()
	const started = "jsonpath={.items[*].status.startTime}"
	for deadline := time.Now().Add(patience); ; time.Sleep(300 * time.Millisecond) {
		if kubectl(t, "get", "trials.loadstone.dev", "--namespace", "default", "--output", started) != "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no trial of %s measures: %s", name, kubectl(t, "get", "benchmarkruns.loadstone.dev,trials.loadstone.dev", "--output", "yaml"))
		}
	}
}

// checkNothingIsLeftOf waits until the run and its objects are gone.
func checkNothingIsLeftOf(t *testing.T, name string) {
	t.Helper()
	const kinds = "benchmarkruns.loadstone.dev,trials.loadstone.dev,workflows.argoproj.io,pods,networkpolicies"
	for deadline := time.Now().Add(patience); ; time.Sleep(300 * time.Millisecond) {
		left := kubectl(t, "get", kinds, "--namespace", "default", "--output", "name") + kubectl(t, "get", "all,workflows.argoproj.io", "--namespace", system, "--output", "name")
		if left == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("without Loadstone, of the run %s and of it there is left: %s", name, left)
		}
	}
}

// volume creates the cluster's default StorageClass and one volume on the object store's node. It stays as long as the cluster.
func volume(t *testing.T) {
	t.Helper()
	folder := filepath.Join(registry.Cache(), "cluster", "volume")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "volume.yaml")
	text := fmt.Sprintf(`apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: store}
spec:
  storageClassName: local
  capacity: {storage: 20Gi}
  accessModes: [ReadWriteOnce]
  local: {path: %q}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [%s]}]}]}}
`, folder, node)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	kubectl(t, "apply", "--filename", file)
}

// deploy installs or upgrades with hack/deploy.sh and some variables.
func deploy(t *testing.T, variables ...string) {
	t.Helper()
	run(t, variables, "hack/deploy.sh")
}

// tagImages adds a second tag to the images on their node.
func tagImages(t *testing.T) {
	t.Helper()
	socket := filepath.Join(registry.Cache(), "cluster", "nodes", node, "containerd.sock")
	for _, image := range []string{"manager", "workflow-controller", "argoexec", "minio"} {
		name := "localhost/loadstone/" + image
		run(t, nil, "ctr", "--address", socket, "--namespace", "k8s.io", "images", "tag", "--force", name+":dev", name+":"+upgraded)
	}
}

// awaitImages waits until all pods use the second tag and the old ones have ended.
func awaitImages(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(300 * time.Millisecond) {
		images := kubectl(t, "get", "pods", "--namespace", system, "--output", "jsonpath={.items[*].spec.containers[*].image}")
		if images != "" && !strings.Contains(images, ":dev") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after the upgrade the pods are of %q", images)
		}
	}
}

// report fetches the kept run's page from the object store.
func report(t *testing.T) string {
	t.Helper()
	out := t.TempDir()
	said := run(t, nil, "bin/loadstone", "report", "kept", "--namespace", "default", "--out", out)
	lines := strings.Split(strings.TrimSpace(said), "\n")
	page, err := os.ReadFile(strings.TrimPrefix(lines[len(lines)-1], "report: "))
	if err != nil || len(page) == 0 {
		t.Fatalf("the report has %d bytes: %v: %s", len(page), err, said)
	}
	return string(page)
}

func uninstalling(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs", "installation.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)\n## Uninstall\n.*?```bash\n(.*?)\n```").FindSubmatch(page)
	if block == nil {
		t.Fatal("docs/installation.md has no commands under Uninstall")
	}
	return strings.Split(string(block[1]), "\n")
}

func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return strings.TrimSpace(run(t, nil, "kubectl", args...))
}

// run runs a program in the checkout and returns its output.
func run(t *testing.T, variables []string, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var complaint strings.Builder
	if strings.Contains(program, "/") {
		whole, err := filepath.Abs(filepath.Join(root, program))
		if err != nil {
			t.Fatal(err)
		}
		program = whole
	}
	c := exec.CommandContext(ctx, program, args...)
	c.Dir, c.Env, c.Stderr, c.WaitDelay = root, append(os.Environ(), variables...), &complaint, time.Minute
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", program, strings.Join(args, " "), err, out, complaint.String())
	}
	return string(out)
}
