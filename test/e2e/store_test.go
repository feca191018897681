package e2e

import (
	"context"
	"fmt"
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
	"loadstone.dev/loadstone/internal/discover"
)

// An object store of one's own is a matter of four values. What is wrong with it is said before anything starts.
func TestAnotherObjectStoreIsAMatterOfValues(t *testing.T) {
	otherStore(t)
	keepStore(t)
	t.Cleanup(func() { upgrade(t, "--reset-values") })
	own := []string{
		"--reset-values", "--set", "minio.enabled=false", "--set", "s3.endpoint=" + other + "." + system + ".svc:9000",
		"--set", "s3.existingSecret=" + other,
	}
	tests := []struct {
		name, bucket string
		key          string
		reason       string
	}{
		{name: "the bucket is there", bucket: "elsewhere", key: "right"},
		{name: "the bucket is not there", bucket: "nowhere", key: "right", reason: "the bucket does not exist"},
		{name: "the key is wrong", bucket: "elsewhere", key: "wrong", reason: "the object store rejected the access key"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			credentials(t, tc.key)
			upgrade(t, append(own, "--set", "s3.bucket="+tc.bucket)...)
			run := small("elsewhere")
			run.Spec.PatienceSeconds = 5 // What is wrong here stays so.
			mustApply(t, run)
			if tc.reason == "" {
				awaitSuccess(t, run, time.Minute)
				if data := load(t, run); len(data.Trials) != planned(run, data) {
					t.Errorf("%d trials in the other store, want %d", len(data.Trials), planned(run, data))
				}
				return
			}
			await(t, run, 30*time.Second, "ended", ended)
			c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionPlanned)
			if c == nil || c.Reason != v1alpha1.ReasonStoreUnavailable || !contains(c.Message, tc.reason, tc.bucket) {
				t.Errorf("got %+v, want %s that says %q and names bucket %s", c, v1alpha1.ReasonStoreUnavailable, tc.reason, tc.bucket)
			}
		})
	}
}

func contains(s string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}

// other names the pod, the Service and the Secret of a second object store.
const other = "other-s3"

// keepStore keeps helm from deleting the embedded store with its key when an upgrade switches it off: a user's artifacts lie in there, and
// on hack/cluster in a volume that goes with its pod.
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

// upgrade changes the values of the installation and finds it again.
func upgrade(t *testing.T, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "../../hack/deploy.sh", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("helm upgrade %v: %v\n%s", args, err, out)
	}
	found, err := discover.Find(ctx, system)
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

// otherStore starts a second object store with the bucket "elsewhere", and removes it when the test is over.
func otherStore(t *testing.T) {
	t.Helper()
	labels := map[string]string{"app": other}
	objects := []client.Object{
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: other, Namespace: system}},
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

// awaitRunning waits until a pod runs.
func awaitRunning(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); pod.Status.Phase != corev1.PodRunning; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("pod %s does not run: %+v", pod.Name, pod.Status)
		}
		if err := loadstone.Client.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
			t.Fatal(err)
		}
	}
}

// restricted is the security context of a container as the namespaces of the installation and of the tests ask for it.
func restricted() *corev1.SecurityContext {
	yes, no := true, false
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: &no, RunAsNonRoot: &yes,
		Capabilities:   &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

// otherPod is a MinIO whose bucket is a folder that the kubelet makes for the mount of an init container.
func otherPod(labels map[string]string) *corev1.Pod {
	user := int64(65532)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: other, Namespace: system, Labels: labels},
		Spec: corev1.PodSpec{
			SecurityContext:               &corev1.PodSecurityContext{RunAsUser: &user, RunAsGroup: &user, FSGroup: &user},
			TerminationGracePeriodSeconds: new(int64),
			Volumes:                       []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
			InitContainers: []corev1.Container{{
				Name: "bucket", Image: image("minio"), Args: []string{"--version"}, SecurityContext: restricted(),
				VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/bucket", SubPath: "elsewhere"}},
			}},
			Containers: []corev1.Container{{
				Name: "minio", Image: image("minio"), Args: []string{"server", "--quiet", "--address=:9000", "/data"}, SecurityContext: restricted(),
				Env:          []corev1.EnvVar{{Name: "MINIO_ROOT_USER", Value: "somebody"}, {Name: "MINIO_ROOT_PASSWORD", Value: "right-secret-key"}},
				VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}},
			}},
		},
	}
}
