package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/internal/client/kube"
)

// ofControllers are the pod labels of Argo controllers: in Argo's manifests, and in the community chart.
var ofControllers = []client.MatchingLabels{{"app": "workflow-controller"}, {"app.kubernetes.io/component": "workflow-controller"}}

// lookAtOwnArgo finds the user-managed controller that runs the operator's workflows. Otherwise away says why the controllers
// found do not run them; unready is true if one only is not ready. All are empty if no controller is visible.
func lookAtOwnArgo(ctx context.Context, c client.Client, namespace string) (taker, away string, unready bool) {
	ctx, cancel := context.WithTimeout(ctx, askDeadline)
	defer cancel()
	operator, err := kube.Operator(ctx, c, namespace)
	if err != nil {
		return "", "", false // The operator check reports it.
	}
	instance := option(kube.Container(operator.Spec.Template.Spec, kube.OperatorContainer).Args, "argo-instance-id")
	var others []string
	var waiting string
	for _, labels := range ofControllers {
		var pods corev1.PodList
		if err := c.List(ctx, &pods, labels); err != nil {
			return "", "", false // Permission to list pods of other namespaces is missing.
		}
		for i := range pods.Items {
			pod := &pods.Items[i]
			why, known := passesOver(ctx, c, pod, namespace, instance)
			switch {
			case !known:
				return "", "", false
			case why == "":
				return "pod " + client.ObjectKeyFromObject(pod).String(), "", false
			case why == notReady:
				waiting = fmt.Sprintf("pod %s %s", client.ObjectKeyFromObject(pod), why)
			}
			others = append(others, fmt.Sprintf("pod %s %s", client.ObjectKeyFromObject(pod), why))
		}
	}
	if waiting != "" {
		return "", waiting, true
	}
	return "", strings.Join(others, "; "), false
}

const notReady = "is not ready"

// passesOver says why a controller ignores the workflows of an instance in a namespace; empty if it runs them. known is false if its
// settings cannot be read.
func passesOver(ctx context.Context, c client.Client, pod *corev1.Pod, namespace, instance string) (why string, known bool) {
	container := kube.Container(pod.Spec, "workflow-controller", "controller") // In Argo's manifests, and in the community chart.
	args := slices.Concat(container.Command, container.Args)
	if slices.Contains(args, "--namespaced") {
		if of := cmp.Or(option(args, "managed-namespace"), pod.Namespace); of != namespace {
			return fmt.Sprintf("only runs workflows in namespace %s, but the operator creates them in %s", of, namespace), true
		}
	}
	var settings corev1.ConfigMap
	name := cmp.Or(option(args, "configmap"), "workflow-controller-configmap")
	if err := c.Get(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: name}, &settings); err != nil {
		return "", false
	}
	var config struct {
		InstanceID string `json:"instanceID"`
	}
	if err := yaml.Unmarshal([]byte(settings.Data["config"]), &config); err != nil {
		return "", false
	}
	if has := cmp.Or(config.InstanceID, settings.Data["instanceID"]); has != instance {
		return fmt.Sprintf("has instanceID %q, but the operator uses %q", has, instance), true
	}
	if !slices.ContainsFunc(pod.Status.Conditions, func(d corev1.PodCondition) bool { return d.Type == corev1.PodReady && d.Status == corev1.ConditionTrue }) {
		return notReady, true
	}
	return "", true
}

func option(args []string, name string) string {
	for i, arg := range args {
		flag, value, is := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		switch {
		case flag != name || !strings.HasPrefix(arg, "-"):
		case is:
			return value
		case i+1 < len(args):
			return args[i+1]
		}
	}
	return ""
}
