package pods_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"loadstone.dev/loadstone/controllers/pods"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
)

const serverPod = "quick-000-go-1-s0"

// named gives the server of an attempt settings that name objects.
func named(a *pods.Attempt, c record.Container) {
	work := a.Work.(sweep.Sweep)
	work.Implementations[0].Container = c
	a.Work = work
}

// withFiles is an attempt whose server shall hold the files of a Secret.
func withFiles() pods.Attempt {
	a := attempt()
	named(&a, record.Container{Files: []record.FileMount{{Path: "/keys", From: record.Object{Secret: "keys"}}}})
	server(&a).Spec.Volumes = []corev1.Volume{{Name: "b", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "keys"}}}}
	for i := range server(&a).Status.ContainerStatuses {
		waitingFor(server(&a), i, "ContainerCreating", "")
	}
	return a
}

func TestOnlyPodsThatHaveStartedNothingAwaitTheirFiles(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"a pod on its node":    {func(*corev1.Pod) {}, true},
		"a pod without a node": {func(p *corev1.Pod) { p.Spec.NodeName = "" }, false},
		"a pod without files":  {func(p *corev1.Pod) { p.Spec.Volumes = nil }, false},
		"a pod that pulls its image": {func(p *corev1.Pod) {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionTrue})
		}, false},
		"a pod of which a part runs": {func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := withFiles()
			tc.change(server(&a))
			if got := len(a.AwaitFiles()) > 0; got != tc.want {
				t.Errorf("it awaits files: %v, want %v", got, tc.want)
			}
		})
	}
}

func TestAPodWhoseFilesAreNowhereIsAFaultOfTheSpec(t *testing.T) {
	const absent = `MountVolume.SetUp failed for volume "b" : secret "keys" not found`
	for name, tc := range map[string]struct {
		said  string
		since time.Duration
		want  string
	}{
		"a Secret that is not there": {absent, 20 * time.Second, `ObjectMissing permanent: implementations[go].files[0] names the Secret "keys", which namespace "bench" does not have: create it there, or correct the name`},
		"a Secret that may yet come": {absent, 19 * time.Second, ""},
		"a key that is not there":    {`MountVolume.SetUp failed for volume "b" : references non-existent secret key: tls.crt`, time.Minute, "ServerExited permanent: go of pod " + serverPod + ` cannot be started: MountVolume.SetUp failed for volume "b" : references non-existent secret key: tls.crt: correct the files of implementations[go] and of its dependencies, or create the ConfigMap or Secret`},
		"a cache that is slow":       {`MountVolume.SetUp failed for volume "b" : failed to sync secret cache: timed out waiting for the condition`, time.Minute, ""},
		"nothing is said":            {"", time.Hour, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := withFiles()
			server(&a).CreationTimestamp.Time, server(&a).Status.Conditions = noon, nil
			a.Now, a.Unmounted = noon.Add(tc.since), map[string]string{server(&a).Name: tc.said}
			if got := describe(a.Fault()); got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestAPodThatIsStartedSaysWhichFilesItAwaits(t *testing.T) {
	a := withFiles()
	if got := a.Starting(); got != "pods are starting" {
		t.Errorf("where nothing is said it says %q", got)
	}
	a.Unmounted = map[string]string{serverPod: "no such Secret"}
	if got, want := a.Starting(), "pod "+serverPod+" is starting: no such Secret"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}
