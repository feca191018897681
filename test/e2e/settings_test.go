package e2e

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/builds"
	"loadstone.dev/loadstone/internal/record"
)

// provide creates an object for the duration of a test.
func provide(t *testing.T, o client.Object) {
	t.Helper()
	if err := loadstone.Client.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = loadstone.Client.Delete(context.Background(), o) }) // The namespace goes with the cluster.
}

// One image twice, the second time with arguments, a file, a writable folder, a Secret and a user. It starts only with all of them, and the report
// lists them without the secret value.
func TestAnImageIsMeasuredUnderTwoSettings(t *testing.T) {
	const secret = "a-word-that-nobody-may-read"
	file, err := os.ReadFile(filepath.Join("..", "..", "config", "samples", "nginx.conf"))
	if err != nil {
		t.Fatal(err)
	}
	provide(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "nginx-logging", Namespace: namespace}, Data: map[string]string{"nginx.conf": string(file)}})
	provide(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: namespace}, StringData: map[string]string{"word": secret}})
	run := sample(t, "settings.yaml")
	run.Spec.Blocks, run.Spec.Loads[0].DurationSeconds = 1, 2
	logging := &run.Spec.Implementations[1]
	logging.Env = append(logging.Env, v1alpha1.Variable{Name: "WORD", ValueFrom: v1alpha1.ValueSource{SecretKeyRef: v1alpha1.KeyReference{Name: "settings", Key: "word"}}})
	data, table := measure(t, run, 10*time.Minute)
	i := slices.IndexFunc(data.Manifest.Plan.Implementations, func(i record.Implementation) bool { return i.Name == "logging" })
	if got := len(data.Manifest.Plan.Implementations[i].Container.Settings()); got != 9 {
		t.Errorf("the plan has %d settings, want the arguments, two variables, a file, a folder, a user, a group, a path and a time", got)
	}
	for _, c := range table.Claims {
		if c.Implementation != "logging" || c.Answer != builds.Confirmed {
			t.Errorf("the claim %+v of %s is %s by %s", c.Claim, c.Implementation, c.Answer, c.By)
		}
	}
	if len(table.Claims) != 3 {
		t.Errorf("%d claims are answered, want 3", len(table.Claims))
	}
	checkReport(t, run, table)
	_, key, _ := strings.Cut(strings.TrimPrefix(run.Status.Report.URI, "s3://"), "/")
	page, err := loadstone.Store.Get(t.Context(), key, run.Status.Report.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"Settings that differ": true, "key word of Secret settings": true, "/etc/app": true, secret: false} {
		if bytes.Contains(page, []byte(text)) != want {
			t.Errorf("the report holds %q: %v", text, !want)
		}
	}
}
