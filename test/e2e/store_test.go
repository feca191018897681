package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/client/kube"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/test/e2e/registry"
)

// Values select another object store over TLS with a private authority, and a registry with such a certificate. An upgrade to another tag keeps the
// reports. Errors of the store are reported before anything starts.
func TestAnotherObjectStoreIsAMatterOfValues(t *testing.T) {
	otherStore(t)
	keepStore(t)
	t.Cleanup(func() { upgrade(t, "--reset-values") })
	own := []string{
		"--reset-values", "--set", "minio.enabled=false", "--set", "s3.endpoint=" + other + "." + system + ".svc:9000",
		"--set", "s3.existingSecret=" + other, "--set", "s3.tls=true", "--set", "s3.caBundle.secret=" + other,
	}
	t.Run("from a registry", func(t *testing.T) {
		from := registry.Own(t)
		credentials(t, "right")
		upgradeFrom(t, from.Installation(), append(own, "--ca-file", from.Authority, "--set", "s3.bucket=elsewhere")...)
		checkOperatorIs(t, from.Host)
		run := small("elsewhere")
		mustApply(t, run)
		awaitSuccess(t, run, 3*time.Minute)
		if data := load(t, run); len(data.Trials) != planned(run, data) {
			t.Errorf("%d trials in the other store, want %d", len(data.Trials), planned(run, data))
		}
		before := fetch(t, run)
		upgrade(t, append(own, "--set", "s3.bucket=elsewhere")...)
		checkOperatorIs(t, image("manager"))
		if after := fetch(t, run); after != before {
			t.Errorf("after an upgrade to another tag the report has %d bytes, before it had %d", len(after), len(before))
		}
	})
	tests := []struct{ name, bucket, key, reason string }{
		{name: "the bucket is not there", bucket: "nowhere", key: "right", reason: "the bucket does not exist"},
		{name: "the key is wrong", bucket: "elsewhere", key: "wrong", reason: "the object store rejected the access key"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			credentials(t, tc.key)
			upgrade(t, append(own, "--set", "s3.bucket="+tc.bucket)...)
			run := small("elsewhere")
			run.Spec.PatienceSeconds = 5 // Waiting repairs nothing here.
			mustApply(t, run)
			await(t, run, 3*time.Minute, "ended", ended)
			c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionPlanned)
			if c == nil || c.Reason != v1alpha1.ReasonStoreUnavailable || !contains(c.Message, tc.reason, tc.bucket) {
				t.Errorf("got %+v, want %s that says %q and names bucket %s", c, v1alpha1.ReasonStoreUnavailable, tc.reason, tc.bucket)
			}
		})
	}
}

// fetch fetches a run's report page with the program.
func fetch(t *testing.T, run *v1alpha1.BenchmarkRun) string {
	t.Helper()
	out, code := command(t, 2*time.Minute, "report", run.Name, "--namespace", namespace, "--out", t.TempDir())
	lines := strings.Split(strings.TrimSpace(out), "\n")
	page, err := os.ReadFile(strings.TrimPrefix(lines[len(lines)-1], "report: "))
	if err != nil || code != exitSuccess || len(page) == 0 {
		t.Fatalf("the report of %s: %d bytes, code %d, %v", run.Name, len(page), code, err)
	}
	return string(page)
}

func contains(s string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}

// other names the pod, Service and Secret of a second object store.
const other = "other-s3"

// keepStore keeps helm from deleting the embedded store and its key when an upgrade disables it. It has users' artifacts, in hack/cluster on a volume
// of its pod.
func keepStore(t *testing.T) {
	t.Helper()
	annotate := func(ctx context.Context, o client.Object, policy string) {
		patch := fmt.Appendf(nil, `{"metadata": {"annotations": {"helm.sh/resource-policy": %s}}}`, policy)
		if err := loadstone.Client.Patch(ctx, o, client.RawPatch(types.MergePatchType, patch)); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	}
	for _, o := range []client.Object{
		&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "loadstone-minio", Namespace: system}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "loadstone-s3", Namespace: system}},
	} {
		annotate(t.Context(), o, `"keep"`)
		t.Cleanup(func() { annotate(context.Background(), o, "null") })
	}
}

func upgrade(t *testing.T, args ...string) {
	t.Helper()
	upgradeFrom(t, nil, args...)
}

// upgradeFrom also uses another chart and images, by variables of hack/deploy.sh.
func upgradeFrom(t *testing.T, elsewhere []string, args ...string) {
	t.Helper()
	if err := removed(); err != nil {
		t.Error(err) // Another operator may not be able to remove it.
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	deploy := exec.CommandContext(ctx, "../../hack/deploy.sh", args...)
	deploy.Env = append(os.Environ(), elsewhere...)
	out, err := deploy.CombinedOutput()
	if err != nil {
		t.Fatalf("helm upgrade %v: %v\n%s", args, err, out)
	}
	found, err := kube.Find(ctx, system)
	if err != nil {
		t.Fatal(err)
	}
	loadstone.Close()
	loadstone = found
}

func credentials(t *testing.T, key string) {
	t.Helper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: other, Namespace: system}}
	if err := loadstone.Client.Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil {
		t.Fatal(err)
	}
	s.StringData = map[string]string{"access-key": "somebody", "secret-key": key + "-secret-key"}
	if err := loadstone.Client.Update(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

// otherStore starts a second object store with TLS and the bucket "elsewhere", for the duration of a test.
func otherStore(t *testing.T) {
	t.Helper()
	labels := map[string]string{"app": other}
	authority, files := testbed.Certificate(t, time.Now().Add(time.Hour), other+"."+system+".svc")
	files["ca.crt"] = authority
	objects := []client.Object{
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: other, Namespace: system}, StringData: files},
		&corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: other, Namespace: system},
			Spec:       corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Port: 9000, TargetPort: intstr.FromInt32(9000)}}},
		},
		otherPod(labels),
	}
	for _, o := range objects {
		if err := loadstone.Client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := loadstone.Client.Delete(context.Background(), o); client.IgnoreNotFound(err) != nil {
				t.Error(err)
			}
		})
	}
	awaitRunning(t, objects[2].(*corev1.Pod))
}

func awaitRunning(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); pod.Status.Phase != corev1.PodRunning; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("pod %s does not run: %+v", pod.Name, pod.Status)
		}
		if err := loadstone.Client.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
			t.Fatal(err)
		}
	}
}

// restricted is the security context that the namespaces require.
func restricted() *corev1.SecurityContext {
	yes, no := true, false
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: &no, RunAsNonRoot: &yes,
		Capabilities:   &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

// otherPod is a versitygw, so that the test uses a store other than MinIO. Its bucket is a folder that the kubelet creates for an init container's
// mount.
func otherPod(labels map[string]string) *corev1.Pod {
	user := int64(65532)
	empty := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: other, Namespace: system, Labels: labels},
		Spec: corev1.PodSpec{
			SecurityContext:               &corev1.PodSecurityContext{RunAsUser: &user, RunAsGroup: &user, FSGroup: &user},
			TerminationGracePeriodSeconds: new(int64),
			Volumes: []corev1.Volume{
				{Name: "objects", VolumeSource: empty},
				{Name: "metadata", VolumeSource: empty},
				{Name: "certificate", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
					SecretName: other, Items: []corev1.KeyToPath{{Key: "public.crt", Path: "public.crt"}, {Key: "private.key", Path: "private.key"}},
				}}},
			},
			InitContainers: []corev1.Container{{
				Name: "bucket", Image: image("versitygw"), Args: []string{"--version"}, SecurityContext: restricted(),
				VolumeMounts: []corev1.VolumeMount{{Name: "objects", MountPath: "/bucket", SubPath: "elsewhere"}},
			}},
			Containers: []corev1.Container{{
				Name: "versitygw", Image: image("versitygw"), SecurityContext: restricted(),
				Args: []string{
					"--quiet", "--port=:9000", "--cert=/certificate/public.crt", "--key=/certificate/private.key", "posix", "--sidecar=/metadata", "/objects",
				},
				Env: []corev1.EnvVar{{Name: "ROOT_ACCESS_KEY_ID", Value: "somebody"}, {Name: "ROOT_SECRET_ACCESS_KEY", Value: "right-secret-key"}},
				VolumeMounts: []corev1.VolumeMount{
					{Name: "objects", MountPath: "/objects"},
					{Name: "metadata", MountPath: "/metadata"},
					{Name: "certificate", MountPath: "/certificate", ReadOnly: true},
				},
			}},
		},
	}
}

func checkOperatorIs(t *testing.T, from string) {
	t.Helper()
	var d appsv1.Deployment
	if err := loadstone.Client.Get(t.Context(), client.ObjectKey{Namespace: system, Name: "loadstone"}, &d); err != nil {
		t.Fatal(err)
	}
	if got := d.Spec.Template.Spec.Containers[0].Image; !strings.HasPrefix(got, from) || d.Status.ReadyReplicas == 0 {
		t.Errorf("%d operators of %s are ready, want of %s", d.Status.ReadyReplicas, got, from)
	}
}
