package render

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// equipped is the pod of a server that asks for all that an implementation can ask for.
func equipped(t *testing.T, changes ...func(*v1alpha1.Implementation)) *corev1.Pod {
	t.Helper()
	value, uid, gid, pages := "$(HOME) costs $5", int64(1000), int64(2000), resource.MustParse("64Mi")
	own := v1alpha1.Implementation{
		Name: "go", Image: "localhost/app:1", Port: 8080, Readiness: v1alpha1.Readiness{Path: "/ready?full", TimeoutSeconds: 90},
		ContainerSettings: v1alpha1.ContainerSettings{
			Args: []string{"--dsn=$(DSN)"}, User: &uid, Group: &gid,
			Env: []v1alpha1.Variable{
				{Name: "MOTTO", Value: &value},
				{Name: "DSN", ValueFrom: v1alpha1.ValueSource{SecretKeyRef: v1alpha1.KeyReference{Name: "db", Key: "dsn"}}},
				{Name: "MODE", ValueFrom: v1alpha1.ValueSource{ConfigMapKeyRef: v1alpha1.KeyReference{Name: "app", Key: "mode"}}},
			},
			EnvFrom: []v1alpha1.VariableSource{{Kind: v1alpha1.KindConfigMap, Name: "app", Prefix: "APP_"}, {Kind: v1alpha1.KindSecret, Name: "db"}},
			Files: []v1alpha1.FileMount{
				{Path: "/etc/app", ConfigMap: v1alpha1.ObjectReference{Name: "app"}}, {Path: "/etc/keys", Secret: v1alpha1.ObjectReference{Name: "keys"}},
			},
			Scratch:          []v1alpha1.Scratch{{Path: "/tmp"}},
			Resources:        []v1alpha1.ResourceAmount{{Name: "hugepages-2Mi", Amount: &pages}, {Name: "nvidia.com/gpu"}},
			ImagePullSecrets: []v1alpha1.ObjectReference{{Name: "registry"}},
		},
	}
	for _, change := range changes {
		change(&own)
	}
	p, err := plan.Compile(v1alpha1.BenchmarkRunSpec{
		Implementations: []v1alpha1.Implementation{own},
		Loads:           []v1alpha1.Load{{Name: "sweep", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 10}}}},
		Blocks:          2,
	}, plan.Options{Name: "quick", UID: "11111111-2222"})
	if err != nil {
		t.Fatal(err)
	}
	tr := trial(t, p)
	return Pod(tr.Trial, serverOf(t, tr), time.Minute, options())
}

func serverOf(t *testing.T, tr swept) kind.Member {
	t.Helper()
	for _, m := range tr.Members() {
		if m.Role == v1alpha1.RoleServer {
			return m
		}
	}
	t.Fatal("the trial has no server")
	return kind.Member{}
}

func TestGoldenPodOfAServerThatAsksForMuch(t *testing.T) {
	golden(t, "equipped.yaml", equipped(t))
}

// depending gives a server a database with another user and separate settings, then a cache.
func depending(i *v1alpha1.Implementation) {
	postgres, fraction, size := int64(999), resource.MustParse("300m"), resource.MustParse("64Mi")
	i.Dependencies = []v1alpha1.Dependency{
		{
			Name: "db", Image: "localhost/postgres:15", Port: 5432, Readiness: v1alpha1.Readiness{TimeoutSeconds: 90},
			ContainerSettings: v1alpha1.ContainerSettings{
				Args: []string{"-c", "fsync=off"}, User: &postgres,
				Env:              []v1alpha1.Variable{{Name: "POSTGRES_PASSWORD", ValueFrom: v1alpha1.ValueSource{SecretKeyRef: v1alpha1.KeyReference{Name: "db", Key: "password"}}}},
				Files:            []v1alpha1.FileMount{{Path: "/etc/db", ConfigMap: v1alpha1.ObjectReference{Name: "db"}}},
				Scratch:          []v1alpha1.Scratch{{Path: "/var/lib/postgresql"}},
				ImagePullSecrets: []v1alpha1.ObjectReference{{Name: "registry"}},
			},
		},
		{Name: "cache", Image: "localhost/memcached:1", Command: []string{"memcached", "-m", "64"}, CPU: &fraction, Memory: &size},
		{Name: "search", Image: "localhost/search:1", Port: 9200, Readiness: v1alpha1.Readiness{Path: "/_health"}, CPU: &fraction},
	}
}

func TestGoldenPodOfAServerWithDependencies(t *testing.T) {
	golden(t, "dependencies.yaml", equipped(t, depending))
}

// With sidecars, the kubelet still pins a server only if every container's requests equal its limits.
func TestAServerWithDependenciesKeepsItsOwnCPUs(t *testing.T) {
	pod := equipped(t, depending)
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			ask, limit := c.Resources.Requests[name], c.Resources.Limits[name]
			if ask.IsZero() || ask.Cmp(limit) != 0 {
				t.Errorf("%s asks for %s of %s, and may have %s", c.Name, ask.String(), name, limit.String())
			}
		}
	}
	if cpu := pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU]; pod.Spec.Containers[0].Name != "server" || cpu.String() != "1" {
		t.Errorf("the first container is %s with %s CPUs", pod.Spec.Containers[0].Name, cpu.String())
	}
}

// A dependency that runs as root lets no other container do so.
func TestOnlyTheDependencyIsRootThatAsksForIt(t *testing.T) {
	root := int64(0)
	pod := equipped(t, depending, func(i *v1alpha1.Implementation) { i.Dependencies[0].User = &root })
	if own := pod.Spec.InitContainers[0].SecurityContext; own.RunAsNonRoot == nil || *own.RunAsNonRoot || *own.RunAsUser != 0 {
		t.Errorf("the database must not be root: %+v", own)
	}
	for _, c := range append(pod.Spec.Containers, pod.Spec.InitContainers[1]) {
		if c.SecurityContext.RunAsNonRoot == nil || !*c.SecurityContext.RunAsNonRoot {
			t.Errorf("%s may be root", c.Name)
		}
	}
	if !*pod.Spec.SecurityContext.RunAsNonRoot {
		t.Error("the pod may be root")
	}
	pod = equipped(t, depending, func(i *v1alpha1.Implementation) { i.User = &root })
	if own := pod.Spec.InitContainers[0].SecurityContext; own.RunAsNonRoot == nil || *own.RunAsUser != 999 {
		t.Errorf("a server that is root makes its database root: %+v", own)
	}
}

// Root is no user that a restricted pod may have: the namespace decides, and no container stands in its way.
func TestAPodThatRunsAsRootSaysSoEverywhere(t *testing.T) {
	root := int64(0)
	pod := equipped(t, func(i *v1alpha1.Implementation) { i.User = &root })
	if s := pod.Spec.SecurityContext; *s.RunAsUser != 0 || s.RunAsNonRoot != nil {
		t.Errorf("the pod's user is %d, and it must not be root: %v", *s.RunAsUser, s.RunAsNonRoot)
	}
	for _, c := range pod.Spec.Containers {
		if c.SecurityContext.RunAsNonRoot != nil {
			t.Errorf("%s must not be root", c.Name)
		}
		if c.SecurityContext.AllowPrivilegeEscalation == nil || *c.SecurityContext.AllowPrivilegeEscalation || len(c.SecurityContext.Capabilities.Drop) == 0 {
			t.Errorf("%s has got privileges with its user", c.Name)
		}
	}
}
