package e2e

import (
	"context"
	"net"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/builds"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/workloads/conformance"
)

// suites are those of reference workloads that are servers.
var suites = []string{"s0-zco.yaml", "s1-uvhttp.yaml"}

// Every server of the suites gives the same answers from its image, in a restricted container, as on its own.
func TestServersAnswerAlikeFromTheirImages(t *testing.T) {
	// All pods start together, because a start takes longer than a check.
	pods := map[string]*corev1.Pod{}
	for _, name := range suites {
		for _, i := range suite(t, name).Spec.Implementations {
			if pods[i.Name] == nil {
				pods[i.Name] = serve(t, i)
			}
		}
	}
	for name, pod := range pods {
		var but []string
		if name == "nginx" {
			but = conformance.Other
		}
		t.Run(name, func(t *testing.T) { conformance.Check(t, listening(t, pod), but...) })
	}
}

// serve runs a server in the cluster during the test.
func serve(t *testing.T, i v1alpha1.Implementation) *corev1.Pod {
	t.Helper()
	yes, no := true, false
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "conformance-" + i.Name + "-", Namespace: namespace},
		Spec: corev1.PodSpec{
			AutomountServiceAccountToken: &no,
			RestartPolicy:                corev1.RestartPolicyNever,
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: &yes, RunAsUser: new(int64(65532)), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			NodeSelector: map[string]string{"loadstone.dev/role": "server"},
			Tolerations:  []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			Containers: []corev1.Container{{
				Name: "server", Image: i.Image, Command: i.Command,
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
	if err := loadstone.Client.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			_ = loadstone.Client.Get(context.Background(), client.ObjectKeyFromObject(pod), pod)
			t.Logf("the server's container: %+v", pod.Status.ContainerStatuses)
		}
		if err := loadstone.Client.Delete(context.Background(), pod, client.GracePeriodSeconds(2)); err != nil {
			t.Error(err)
		}
	})
	return pod
}

// starts limits the time until a server listens. A dozen pods start together.
const starts = 5 * time.Minute

// listening waits until a pod's server listens, and returns its address.
func listening(t *testing.T, pod *corev1.Pod) string {
	t.Helper()
	for deadline := time.Now().Add(starts); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if err := loadstone.Client.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
			t.Fatal(err)
		}
		address := net.JoinHostPort(pod.Status.PodIP, "8080")
		if pod.Status.PodIP == "" {
			continue
		}
		if c, err := net.DialTimeout("tcp", address, time.Second); err == nil {
			_ = c.Close()
			return address
		}
	}
	t.Fatalf("the server does not listen after %s: %+v", starts, pod.Status.ContainerStatuses)
	return ""
}

// Each suite runs, shortened. Only this machine may have disturbed its cells.
func TestTheSuitesRun(t *testing.T) {
	for _, name := range suites {
		t.Run(name, func(t *testing.T) {
			run := suite(t, name)
			shortened(run)
			run.Spec.Blocks = 1
			for i := range run.Spec.Loads {
				run.Spec.Loads[i].Levels, run.Spec.Loads[i].WarmupSeconds = run.Spec.Loads[i].Levels[:1], new(int32(0))
			}
			for i := range run.Spec.Profiles {
				run.Spec.Profiles[i].Requests, run.Spec.Profiles[i].Repeats = 500, 1
			}
			mustApply(t, run)
			awaitSuccess(t, run, 10*time.Minute)
			table := analyse(t, load(t, run))
			for _, g := range table.Groups {
				if len(g.Cells) == 0 {
					t.Errorf("%s was not measured at %+v", g.Implementation, g.Point)
				}
				for _, c := range g.Cells {
					checkOwn(t, g, c)
				}
			}
			for _, p := range table.Profiles {
				for _, f := range p.Found {
					if f.Missing != "" || f.Asked == 0 || f.Wrong > 0 || f.Cut != "" || p.Tool.Counts() && f.PerRequest == nil {
						t.Errorf("%s of %s is not whole: %+v", p.Name, f.Implementation, f)
					}
					// memcheck sees none of these servers' allocators.
					if r := f.Result; r != nil && r.Memcheck != nil && r.Memcheck.Verdicts.Leaks.Answer != profiler.Inconclusive {
						t.Errorf("memcheck says of the leaks of %s: %+v", f.Implementation, r.Memcheck.Verdicts.Leaks)
					}
				}
			}
			for _, c := range table.Claims {
				// The allocator of a stripped file is unknown. What its server reports is known.
				if c.Answer == builds.Refuted || c.Subject == record.ClaimResponse && c.Answer != builds.Confirmed {
					t.Errorf("the claim %+v of %s is %s by %s", c.Claim, c.Implementation, c.Answer, c.By)
				}
			}
			checkReport(t, run, table)
		})
	}
}

// checkOwn accepts a void cell only if this machine disturbed it, or if a second of load is too few requests.
func checkOwn(t *testing.T, g validity.Group, c validity.Cell) {
	t.Helper()
	if c.HasExternalReason() {
		return
	}
	for _, r := range c.Reasons {
		if r.Weight == validity.Void && r.Code != validity.TooFewRequests {
			t.Errorf("%s at %+v is void: %+v", g.Implementation, g.Point, r)
		}
	}
}

// here returns this machine's address for pods: the operator's node, which is a bridge here.
func here(t *testing.T) string {
	t.Helper()
	p, err := onlyPod(t.Context(), "operator")
	if err != nil {
		t.Fatal(err)
	}
	return p.Status.HostIP
}
