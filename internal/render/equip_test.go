package render

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/kind"
	"loadstone.dev/loadstone/internal/kind/kinds"
	"loadstone.dev/loadstone/internal/plan"
)

// equipped is the pod of a server that asks for all that an implementation can ask for.
func equipped(t *testing.T, changes ...func(*v1alpha1.Implementation)) *corev1.Pod {
	t.Helper()
	value, uid, gid := "$(HOME) costs $5", int64(1000), int64(2000)
	own := v1alpha1.Implementation{
		Name: "go", Image: "localhost/app:1", Args: []string{"--dsn=$(DSN)"}, Port: 8080, User: &uid, Group: &gid,
		Env: []v1alpha1.Variable{
			{Name: "MOTTO", Value: &value},
			{Name: "DSN", ValueFrom: v1alpha1.ValueSource{SecretKeyRef: v1alpha1.KeyReference{Name: "db", Key: "dsn"}}},
			{Name: "MODE", ValueFrom: v1alpha1.ValueSource{ConfigMapKeyRef: v1alpha1.KeyReference{Name: "app", Key: "mode"}}},
		},
		EnvFrom:          []v1alpha1.VariableSource{{Kind: v1alpha1.KindConfigMap, Name: "app", Prefix: "APP_"}, {Kind: v1alpha1.KindSecret, Name: "db"}},
		Files:            []v1alpha1.FileMount{{Path: "/etc/app", ConfigMap: v1alpha1.ObjectReference{Name: "app"}}, {Path: "/etc/keys", Secret: v1alpha1.ObjectReference{Name: "keys"}}},
		Scratch:          []v1alpha1.Scratch{{Path: "/tmp"}},
		ImagePullSecrets: []v1alpha1.ObjectReference{{Name: "registry"}},
		Readiness:        v1alpha1.Readiness{Path: "/ready?full", TimeoutSeconds: 90},
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
	return Pod(tr, serverOf(t, tr), time.Minute, options())
}

func serverOf(t *testing.T, tr *v1alpha1.Trial) kind.Member {
	t.Helper()
	for _, m := range workIn(t, tr).Members() {
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

func workIn(t *testing.T, tr *v1alpha1.Trial) kind.Work {
	t.Helper()
	work, err := kinds.Of(tr.Spec)
	if err != nil {
		t.Fatal(err)
	}
	return work
}
