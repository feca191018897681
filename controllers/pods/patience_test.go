package pods_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"loadstone.dev/loadstone/controllers/pods"
	"loadstone.dev/loadstone/internal/record"
)

func TestWhatMayComeBackIsWaitedForAsLongAsTheRunHasPatience(t *testing.T) {
	const patience = 10 * time.Minute
	for name, tc := range map[string]struct {
		said  string
		since time.Duration
		node  corev1.ConditionStatus
		// fails is true if the wait is over. awaits names the condition.
		fails  bool
		awaits string
	}{
		"a registry that is away":            {"dial tcp 10.0.0.1:443: i/o timeout", patience - time.Second, corev1.ConditionTrue, false, `image "server:1"`},
		"a registry that stays away":         {"dial tcp 10.0.0.1:443: i/o timeout", patience, corev1.ConditionTrue, true, ""},
		"a registry that does not know it":   {"server:1: Not Found", pods.PullDeadline, corev1.ConditionTrue, true, ""},
		"a registry that gives it to others": {"pull access denied", pods.PullDeadline, corev1.ConditionTrue, true, ""},
		"nodes that are full":                {"", patience, corev1.ConditionFalse, false, "for a node for pod"},
		"nodes that stay full":               {"", patience + time.Second, corev1.ConditionFalse, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := attempt()
			a.Patience = patience
			server(&a).Status.Conditions = condOf(tc.node, tc.since, "0/3 nodes")
			if tc.said != "" {
				waitingFor(server(&a), 0, "ErrImagePull", tc.said)
			}
			if f := a.Fault(); (f != nil) != tc.fails {
				t.Errorf("the attempt ends with %+v", f)
			}
			if got := a.Awaited(); !strings.Contains(got, tc.awaits) || tc.awaits != "" && !strings.Contains(got, "10m0s (spec.patienceSeconds)") {
				t.Errorf("the attempt waits for %q", got)
			}
		})
	}
}

func TestAContainerThatANodeCannotStartIsWaitedForUnlessItsImageLacksSomething(t *testing.T) {
	const patience = 10 * time.Minute
	const cri = "rpc error: code = Unknown desc = "
	for name, tc := range map[string]struct {
		reason, said string
		since        time.Duration
		// want is "" while the attempt continues.
		want string
	}{
		"an API server that is slow":           {"CreateContainerConfigError", "failed to sync secret cache: timed out waiting for the condition", patience - time.Second, ""},
		"an API server that stays slow":        {"CreateContainerConfigError", "failed to sync secret cache: timed out waiting for the condition", patience, "PodLost transient: node n1 did not start container server of pod " + serverPod + ": failed to sync"},
		"containerd that is slow":              {"CreateContainerError", "context deadline exceeded", patience - time.Second, ""},
		"containerd that stays slow":           {"CreateContainerError", "context deadline exceeded", patience, "PodLost transient: "},
		"a name that its last try still holds": {"CreateContainerError", cri + `failed to reserve container name "server_0": name is reserved for "00"`, patience, "PodLost transient: "},
		"containerd that restarts":             {"RunContainerError", `rpc error: code = Unavailable desc = dial unix /run/containerd/containerd.sock: connect: no such file or directory`, 0, ""},
		"something unknown":                    {"CreateContainerError", cri + "no command specified", patience - time.Second, ""},
		"something unknown that stays":         {"CreateContainerError", cri + "no command specified", patience, "ServerExited permanent: "},
		"a program that is not in the image":   {"RunContainerError", cri + `exec: "srv": executable file not found in $PATH`, 0, "ServerExited permanent: "},
		"a path that is not in the image":      {"RunContainerError", cri + "exec: /srv: no such file or directory", 0, "ServerExited permanent: "},
		"a program for another processor":      {"RunContainerError", cri + "exec /srv: exec format error", 0, "ServerExited permanent: "},
		"a program that may not be run":        {"RunContainerError", cri + `exec: "/srv": permission denied`, 0, "ServerExited permanent: "},
		"a Secret that may yet come":           {"CreateContainerConfigError", `secret "db" not found`, pods.ObjectDeadline - time.Second, ""},
		"a Secret that is not there":           {"CreateContainerConfigError", `secret "db" not found`, pods.ObjectDeadline, `ObjectMissing permanent: implementations[go].envFrom[0] names the Secret "db", which namespace "bench" does not have: create it there, or correct the name`},
		"a Secret that the API server misses":  {"CreateContainerConfigError", `secrets "db" not found`, pods.ObjectDeadline, `ObjectMissing permanent: implementations[go].envFrom[0] names the Secret "db"`},
		"a ConfigMap that has gone":            {"CreateContainerConfigError", `configmap "db" not found`, pods.ObjectDeadline, `ObjectMissing permanent: implementations[go].env[0].valueFrom names the ConfigMap "db"`},
		"a key that is not there":              {"CreateContainerConfigError", "couldn't find key x in ConfigMap bench/db", pods.ObjectDeadline, `ObjectMissing permanent: implementations[go].env[0].valueFrom names the key "x", but the ConfigMap "db" has no text there: add it, or correct the key`},
		"a Secret that nobody names":           {"CreateContainerConfigError", `secret "other" not found`, pods.ObjectDeadline, "ServerExited permanent: "},
	} {
		t.Run(name, func(t *testing.T) {
			a := attempt()
			a.Patience = patience
			named(&a, record.Container{
				Env:     []record.Variable{{Name: "X", From: record.Object{ConfigMap: "db"}, Key: "x"}},
				EnvFrom: []record.VariableSource{{Kind: "Secret", Name: "db"}},
			})
			server(&a).Status.Conditions = condOf(corev1.ConditionTrue, tc.since, "")
			waitingFor(server(&a), 0, tc.reason, tc.said)
			if got := describe(a.Fault()); !strings.HasPrefix(got, tc.want) || (got == "") != (tc.want == "") {
				t.Errorf("the attempt ends with %q, want %q", got, tc.want)
			}
			if got := a.Awaited(); !strings.Contains(got, "for node n1 to start container server of pod "+serverPod+": "+tc.said) {
				t.Errorf("the attempt waits for %q", got)
			}
		})
	}
}
