package controllers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind/microbenchmark"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// Images with special behavior; every other image is a good server.
const (
	imageWrong = "wrong:1" // answers something else than expected
	imageDeaf  = "deaf:1"  // never listens
	imageExits = "exits:1" // ends at once
	imageNone  = "none:1"  // cannot be pulled
	// imageUnconfigured shall have variables from a Secret that is not there.
	imageUnconfigured = "unconfigured:1"
	imageSlow         = "slow:1" // was built without optimisation
)

// kubelet stands in for the scheduler and the kubelets of a cluster: it places pods, lets their containers run, and lets go of
// those that were deleted.
type kubelet struct {
	c         client.Client
	namespace string
	agents    *fakeAgents
	clock     *clock

	// place is where the scheduler puts a pod that may run on several nodes; nil means the node of its role.
	place func(*corev1.Pod) string

	mu  sync.Mutex
	ips int
	// gone are nodes that have vanished.
	gone map[string]bool
	// together is the largest number of trials that had pods at the same time; seen are all pods that ever were.
	together int
	seen     map[string]bool
}

func (k *kubelet) run(ctx context.Context) {
	for ctx.Err() == nil {
		var pods corev1.PodList
		if k.c.List(ctx, &pods, client.InNamespace(k.namespace)) == nil {
			k.look(pods.Items)
			for i := range pods.Items {
				// What fails now is tried again by the next round.
				_ = k.sync(ctx, &pods.Items[i])
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(lookEvery):
		}
	}
}

func (k *kubelet) look(pods []corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	trials := map[string]bool{}
	for _, p := range pods {
		if trial := p.Labels[v1alpha1.LabelTrial]; trial != "" {
			trials[trial] = true
			k.seen[p.Name] = true
		}
	}
	k.together = max(k.together, len(trials))
}

// crowd is the largest number of trials that had pods at the same time.
func (k *kubelet) crowd() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.together
}

// pods are the names of all measured pods that ever were.
func (k *kubelet) pods() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Sorted(maps.Keys(k.seen))
}

func (k *kubelet) sync(ctx context.Context, p *corev1.Pod) error {
	switch {
	case !p.DeletionTimestamp.IsZero():
		k.agents.remove(p.Status.PodIP)
		return k.c.Delete(ctx, p, client.GracePeriodSeconds(0))
	case p.Labels[v1alpha1.LabelTrial] == "" || p.Status.PodIP != "":
		return nil
	case p.Spec.NodeName == "":
		node := k.schedule(p)
		if k.vanished(node) {
			return k.leave(ctx, p)
		}
		return k.c.SubResource("binding").Create(ctx, p, &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: node}})
	}
	return k.start(ctx, p)
}

func (k *kubelet) schedule(p *corev1.Pod) string {
	if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		return a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0]
	}
	if k.place != nil {
		return k.place(p)
	}
	return "node-" + p.Spec.NodeSelector[v1alpha1.LabelRole]
}

func (k *kubelet) vanish(node string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.gone[node] = true
}

func (k *kubelet) comeBack(node string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.gone, node)
}

func (k *kubelet) vanished(node string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.gone[node]
}

// leave says of a pod that no node fits.
func (k *kubelet) leave(ctx context.Context, p *corev1.Pod) error {
	if len(p.Status.Conditions) > 0 {
		return nil
	}
	p.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: "0/2 nodes are available", LastTransitionTime: metav1.Time{Time: k.clock.Now()},
	}}
	return k.c.Status().Update(ctx, p)
}

// restart ends everything that runs on a node at once, and says of it what a kubelet says that finds it ended.
func (k *kubelet) restart(ctx context.Context, node, why string) error {
	var pods corev1.PodList
	if err := k.c.List(ctx, &pods, client.InNamespace(k.namespace)); err != nil {
		return err
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		if p.Spec.NodeName != node {
			continue
		}
		k.agents.remove(p.Status.PodIP)
		p.Status.Phase = corev1.PodFailed
		for c := range p.Status.ContainerStatuses {
			p.Status.ContainerStatuses[c].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: why}}
		}
		if err := k.c.Status().Update(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (k *kubelet) start(ctx context.Context, p *corev1.Pod) error {
	began := k.clock.Now()
	image := p.Spec.Containers[0].Image
	switch image {
	case imageDeaf:
		began = began.Add(-time.Minute)
	case imageNone, imageUnconfigured:
		k.clock.Forward(time.Minute) // The wait was in vain for this long.
	}
	k.ips++
	p.Status.PodIP = fmt.Sprintf("192.0.2.%d", k.ips)
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Time{Time: began}}}
	for _, c := range p.Spec.Containers {
		s := corev1.ContainerStatus{Name: c.Name, Image: c.Image, ImageID: "sha256:" + strings.Repeat("0", 64)}
		s.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.Time{Time: began}}
		switch c.Image {
		case imageNone:
			s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image"}}
		case imageUnconfigured:
			s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CreateContainerConfigError", Message: `secret "keys" not found`}}
		case imageExits:
			s.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error", Message: "bind: address in use\n"}}
		}
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, s)
	}
	k.agents.add(p.Status.PodIP, newFakeAgent(p))
	if err := k.c.Status().Update(ctx, p); err != nil {
		k.agents.remove(p.Status.PodIP)
		return err
	}
	return nil
}

// newFakeAgent is the agent that a pod's environment describes.
func newFakeAgent(p *corev1.Pod) *fakeAgent {
	env := map[string]string{}
	for _, e := range p.Spec.Containers[len(p.Spec.Containers)-1].Env {
		env[e.Name] = e.Value
	}
	attempt, err := strconv.Atoi(env[protocol.EnvAttempt])
	if err != nil {
		panic(err)
	}
	a := &fakeAgent{name: p.Labels[v1alpha1.LabelTrial], implementation: p.Spec.Containers[0].Image}
	a.state = protocol.State{Member: p.Labels[v1alpha1.LabelMember], Trial: env[protocol.EnvTrial], Attempt: int32(attempt)}
	a.state.CPUsAllowed = "0"
	if p.Spec.Containers[0].Name == sweep.ProcessServer {
		a.state.CPUsAllowed = "0-1"
		a.state.Listening = p.Spec.Containers[0].Image != imageDeaf
	}
	if p.Spec.Containers[0].Name == microbenchmark.ProcessProgram {
		a.program, a.state.CPUsAllowed, a.state.Listening = true, "0-1", true
	}
	if p.Spec.Containers[0].Image == imageSlow {
		a.state.Build = &record.Build{Optimized: record.Fact{Is: record.No, By: "-O0"}}
	}
	if p.Spec.Containers[0].Image == imageWrong {
		a.wrong = "GET / answered 500 instead of 200"
	}
	return a
}

// makeNodes makes a node for each role, once for all tests.
func makeNodes(t *testing.T, c client.Client) {
	t.Helper()
	for _, role := range []string{v1alpha1.RoleServer, v1alpha1.RoleGenerator} {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + role, Labels: map[string]string{v1alpha1.LabelRole: role}}}
		if err := c.Create(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2200m")}
		if err := c.Status().Update(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
}
