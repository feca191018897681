package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/client/kube"
	"loadstone.dev/loadstone/internal/cluster/namespaces"
	"loadstone.dev/loadstone/internal/store/artifact"
)

// askDeadline limits each request to the cluster.
const askDeadline = 10 * time.Second

// ReadCluster collects the facts about a cluster.
func ReadCluster(ctx context.Context, k *kube.Flags) (Cluster, error) {
	seen := Cluster{Own: util.Version}
	config, err := k.Config()
	if err != nil {
		return seen, err
	}
	c, err := kube.Connect(ctx, config)
	if err != nil {
		return seen, err
	}
	asked := rest.CopyConfig(config)
	asked.Timeout = askDeadline
	d, err := discovery.NewDiscoveryClientForConfig(asked)
	if err != nil {
		return seen, fmt.Errorf("making a client: %w", err)
	}
	if v, err := d.ServerVersion(); err == nil {
		seen.Version = v.GitVersion
		seen.Minor, _ = strconv.Atoi(strings.TrimRight(v.Minor, "+")) // A version that is not a number is unknown.
	}
	_, err = c.RESTMapper().RESTMapping(schema.GroupKind{Group: "argoproj.io", Kind: "Workflow"})
	seen.Argo = err == nil
	seen.ArgoAway, seen.ArgoElsewhere = lookAtArgo(ctx, c, k.System)
	if seen.ArgoElsewhere {
		seen.ArgoOwn, seen.ArgoAway, seen.ArgoUnready = lookAtOwnArgo(ctx, c, k.System)
	}
	lookAtOperator(ctx, c, k.System, &seen)
	if own, err := k.Namespace(); err == nil && k.Led(ctx, own) != nil {
		seen.Ignored = own
	}
	seen.Store, seen.StoreUnseen = judgedStore(lookAtStore(ctx, k))
	seen.Nodes, err = lookAtNodes(ctx, c, d.RESTClient())
	return seen, err
}

func lookAtOperator(ctx context.Context, c client.Client, namespace string, seen *Cluster) {
	d, err := kube.Operator(ctx, c, namespace)
	if err != nil {
		seen.Operator = err.Error()
		return
	}
	seen.Missing, seen.Locked = lookForNamespaces(ctx, c, d.Spec.Template.Spec.Containers)
	if d.Status.ReadyReplicas == 0 {
		seen.Operator = fmt.Sprintf("no pod of Deployment %s/%s is ready", d.Namespace, d.Name)
		return
	}
	seen.Release = d.Labels["app.kubernetes.io/version"]
}

// lookForNamespaces returns the configured namespaces that do not exist, and those without the RoleBinding of the chart, as far
// as this user may see them.
func lookForNamespaces(ctx context.Context, c client.Reader, containers []corev1.Container) (missing, locked []string) {
	ctx, cancel := context.WithTimeout(ctx, askDeadline)
	defer cancel()
	for _, container := range containers {
		for _, arg := range container.Args {
			text, names := strings.CutPrefix(arg, "--namespaces=")
			led, err := namespaces.Parse(text, "")
			if !names || err != nil {
				continue
			}
			if there, missing, err := led.Split(ctx, c); err == nil {
				return missing, unbound(ctx, c, there)
			}
		}
	}
	return nil, nil
}

// unbound returns the namespaces without the RoleBinding of the operator. One that this user may not see counts as present.
func unbound(ctx context.Context, c client.Reader, of namespaces.Led) []string {
	var out []string
	for _, name := range of {
		binding := &metav1.PartialObjectMetadata{}
		binding.SetGroupVersionKind(rbacv1.SchemeGroupVersion.WithKind("RoleBinding"))
		if err := c.Get(ctx, client.ObjectKey{Namespace: name, Name: "loadstone-runs"}, binding); apierrors.IsNotFound(err) {
			out = append(out, name)
		}
	}
	return out
}

// lookAtArgo says why the Argo controller of the chart is unavailable. elsewhere is true if the chart installed none, or it is not visible.
func lookAtArgo(ctx context.Context, c client.Client, namespace string) (away string, elsewhere bool) {
	ctx, cancel := context.WithTimeout(ctx, askDeadline)
	defer cancel()
	var list appsv1.DeploymentList
	err := c.List(ctx, &list, client.InNamespace(namespace), client.MatchingLabels{"app.kubernetes.io/name": "loadstone", "app.kubernetes.io/component": "argo"})
	switch {
	case apierrors.IsForbidden(err), err == nil && len(list.Items) == 0:
		return "", true
	case err != nil:
		return fmt.Sprintf("cannot read its Deployment: %s", kube.Explain("", err)), false
	case list.Items[0].Status.ReadyReplicas == 0:
		return fmt.Sprintf("no pod of Deployment %s/%s is ready", namespace, list.Items[0].Name), false
	}
	return "", false
}

func lookAtStore(ctx context.Context, k *kube.Flags) error {
	ctx, cancel := context.WithTimeout(ctx, askDeadline)
	defer cancel()
	in, err := k.Installation(ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = in.Store.List(ctx, "calibrations")
	return err
}

// judgedStore says why the object store cannot be read. unseen is true if only this user lacks credentials.
func judgedStore(err error) (why string, unseen bool) {
	if err == nil {
		return "", false
	}
	return err.Error(), errors.Is(err, kube.ErrNoOwnKey) || errors.Is(err, artifact.ErrOwnKeyDenied)
}

func lookAtNodes(ctx context.Context, c client.Client, kubelets rest.Interface) ([]Node, error) {
	var list corev1.NodeList
	if err := c.List(ctx, &list); apierrors.IsForbidden(err) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("listing nodes: %w", kube.Explain("", err))
	}
	var out []Node
	for i := range list.Items {
		n := &list.Items[i]
		if n.Spec.Unschedulable {
			continue
		}
		one := Node{Name: n.Name, Role: n.Labels[v1alpha1.LabelRole], MilliCPU: n.Status.Allocatable.Cpu().MilliValue()}
		for _, t := range n.Spec.Taints {
			one.Tainted = one.Tainted || t.Key == v1alpha1.TaintMeasure
		}
		text, err := kubelets.Get().AbsPath("/api/v1/nodes", n.Name, "proxy/configz").Do(ctx).Raw()
		if err == nil {
			one.Policy, one.WholeCores = policyIn(text)
		}
		if one.WholeCores {
			if text, err := kubelets.Get().AbsPath("/api/v1/nodes", n.Name, "proxy/metrics/cadvisor").Do(ctx).Raw(); err == nil {
				one.Threads = threadsIn(text)
			}
		}
		out = append(out, one)
	}
	return out, nil
}

const wholeCores = "full-pcpus-only"

func policyIn(text []byte) (policy string, whole bool) {
	var z struct {
		KubeletConfig struct {
			CPUManagerPolicy        string            `json:"cpuManagerPolicy"`
			CPUManagerPolicyOptions map[string]string `json:"cpuManagerPolicyOptions"`
		} `json:"kubeletconfig"`
	}
	if err := json.Unmarshal(text, &z); err != nil {
		return "", false
	}
	return z.KubeletConfig.CPUManagerPolicy, z.KubeletConfig.CPUManagerPolicyOptions[wholeCores] == "true"
}

// threadsIn reads the number of CPUs per core from a kubelet's metrics; 0 if it is not there.
func threadsIn(text []byte) int {
	values := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		name, _, _ := strings.Cut(line, "{")
		if len(fields) < 2 || name != "machine_cpu_cores" && name != "machine_cpu_physical_cores" {
			continue
		}
		// The value follows the labels, whose values have no spaces; a timestamp may follow.
		if v, err := strconv.ParseFloat(fields[1], 64); err == nil {
			values[name] = v
		}
	}
	if cores := values["machine_cpu_physical_cores"]; cores > 0 {
		return int(values["machine_cpu_cores"] / cores)
	}
	return 0
}
