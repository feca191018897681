package docs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/internal/testbed"
)

// installations are chart settings, with a part of the notes for them.
var installations = map[string]struct {
	settings []string
	says     string
}{
	"as it comes":        {nil, "Create runs only in the namespaces default, " + system + "; runs"},
	"a store of its own": {[]string{"runs.namespaces={*}"}, "Show its credentials:"},
	"an Argo and a store of the user's": {
		[]string{"argo.enabled=false", "argo.instanceID=", "minio.enabled=false", "s3.endpoint=s3.example.com:9000", "s3.existingSecret=s3-key"},
		"Your Argo controller must run workflows of namespace " + system + ". With",
	},
	"some namespaces, no volume and no test": {
		[]string{"runs.namespaces={perf}", "minio.persistence.enabled=false", "test.enabled=false"},
		"Create runs only in the namespaces " + system + ", perf; runs in other namespaces are ignored\n(runs.namespaces).",
	},
	"MinIO with a Secret of the user's": {
		[]string{"s3.existingSecret=root", "s3.secretKeys.accessKey=root.user", "s3.secretKeys.secretKey=root.password"}, "get secret root -o",
	},
	"a store that is opened by a role": {nil, "with the role of"},
	"pages of some namespaces": {
		[]string{"runs.namespaces={perf}", "ui.enabled=true"}, "sees all runs, reports and stored files of the namespaces " + system + ", perf.",
	},
	"pages of all, without policies": {
		[]string{"runs.namespaces={*}", "ui.enabled=true", "networkPolicy.enabled=false"}, "of all namespaces. Without networkPolicy.enabled, every pod in the cluster can reach it.",
	},
}

// readNotes runs every command in Helm's notes for each setting.
func (r *reader) readNotes(t *testing.T) {
	t.Helper()
	r.preparesNotes(t)
	typed := map[string]bool{}
	for i, name := range slices.Sorted(maps.Keys(installations)) {
		t.Run(name, func(t *testing.T) {
			notes := r.notes(t, name)
			if says := installations[name].says; !strings.Contains(notes, says) || strings.Contains(notes, "<no value>") {
				t.Errorf("the notes do not say %q:\n%s", says, notes)
			}
			nodes := strings.NewReplacer("NODE_1", r.node(t, 2*i), "NODE_2", r.node(t, 2*i+1))
			for _, line := range ofNotes(notes) {
				line = nodes.Replace(line)
				if _, is := byHand[line]; !is && !typed[line] {
					r.run(t, root, "default", line, line)
				}
				typed[line] = true
			}
		})
	}
	for _, part := range []string{"kubectl label ", "kubectl taint ", "helm test ", "kubectl apply ", "base64 -d", "namespace perf wait ", " port-forward service/loadstone-ui "} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(typed)), func(line string) bool { return strings.Contains(line, part) }) {
			t.Errorf("no notes have %q", part)
		}
	}
}

// preparesNotes creates the store's Secrets and an available operator.
func (r *reader) preparesNotes(t *testing.T) {
	t.Helper()
	for name, keys := range map[string][]string{"loadstone-s3": {"access-key", "secret-key"}, "root": {"root.user", "root.password"}} {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: name}, StringData: map[string]string{keys[0]: storeUser, keys[1]: storePassword}}
		// Helm takes over existing objects with these.
		s.Labels = map[string]string{"app.kubernetes.io/managed-by": "Helm"}
		s.Annotations = map[string]string{"meta.helm.sh/release-name": "loadstone", "meta.helm.sh/release-namespace": system}
		must(t, r.c.Create(t.Context(), s))
	}
	var d appsv1.Deployment
	must(t, r.c.Get(t.Context(), client.ObjectKey{Namespace: system, Name: "loadstone"}, &d))
	d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}}
	must(t, r.c.Status().Update(t.Context(), &d))
}

// node creates a separate node, because a taint can be added only once.
func (r *reader) node(t *testing.T, number int) string {
	t.Helper()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("of-notes-%d", number)}}
	must(t, r.c.Create(t.Context(), n))
	return n.Name
}

func (r *reader) notes(t *testing.T, name string) string {
	t.Helper()
	args := []string{"upgrade", "loadstone", "charts/loadstone", "--namespace", system, "--reset-values", "--dry-run=client", "--output", "json"}
	for _, s := range installations[name].settings {
		args = append(args, "--set", s)
	}
	if name == "a store that is opened by a role" {
		file := filepath.Join(t.TempDir(), "values.yaml")
		must(t, os.WriteFile(file, []byte(roleOfThePage(t)), 0o600))
		args = append(args, "--values", file)
	}
	c := exec.CommandContext(t.Context(), filepath.Join(testbed.Assets(), "helm"), args...)
	c.Dir, c.Env = root, append(os.Environ(), "KUBECONFIG="+r.kubeconfig(t, "default"))
	out, err := c.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		t.Fatalf("helm %q: %v: %s", args, err, exit.Stderr)
	}
	must(t, err)
	var release struct{ Info struct{ Notes string } }
	must(t, json.Unmarshal(out, &release))
	return release.Info.Notes
}

// roleOfThePage has the values of the page of stores for a store with a role.
func roleOfThePage(t *testing.T) string {
	t.Helper()
	for _, text := range fenced(pages(t)["docs/stores.md"], "yaml") {
		if strings.Contains(text, "byRole: true") {
			return text
		}
	}
	t.Fatal("the page opens no store by a role")
	return ""
}

// ofNotes returns the commands of notes with their standard input.
func ofNotes(notes string) []string {
	var all []string
	rest := strings.Split(notes, "\n")
	for len(rest) > 0 {
		line := strings.TrimSpace(rest[0])
		rest = rest[1:]
		if !isCommand(line) {
			continue
		}
		if strings.HasSuffix(line, "<<'END'") {
			end := slices.Index(rest, "END") + 1
			line = strings.Join(append([]string{line}, rest[:end]...), "\n")
			rest = rest[end:]
		}
		all = append(all, line)
	}
	return all
}
