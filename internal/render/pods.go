package render

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/plan"
	"loadstone.dev/loadstone/internal/protocol"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/timetable"
	"loadstone.dev/loadstone/internal/tool/tools"
)

const (
	// ServerContainer is the name of the container that runs an implementation.
	ServerContainer = "server"
	// ObserverContainer is the name of the sidecar that watches it.
	ObserverContainer = "observer"
	// GeneratorContainer is the name of the container that makes load.
	GeneratorContainer = "generator"

	// user is the UID and GID of every measured process: the observer must share the server's to read its /proc.
	user = 65532
	// dataDir is where agents keep their files until they are stored.
	dataDir = "/var/lib/loadstone"
	// podMargin is how much longer than its timetable a measured pod may live whatever happens to the operator.
	podMargin = 20 * time.Minute
)

// PodOptions is what the pods of a trial need beside the trial.
type PodOptions struct {
	AgentImage string
	// Key is the operator's public key: the only thing by which an agent knows whom to obey.
	Key ed25519.PublicKey
	// RunUID is the UID of the BenchmarkRun.
	RunUID string
	// Attempt is the try that the pods are for.
	Attempt int32
	// Nodes are the cluster's, for the choice of node labels.
	Nodes []plan.Node
	// Bound are the nodes to which the run is bound, by the member of the trial; empty until a trial of it is stored.
	Bound map[string]string
	// LargestServer is the CPU that the largest server of the run needs with its observer, in thousandths.
	LargestServer int64
}

// PodName is the name of a trial's pod of a role, which is that of its agent: "-s" ends the server's, "-b" that of the server beside
// it, "-g0" a generator's.
func PodName(trial string, attempt int32, member string) string {
	kind, index, _ := strings.Cut(member, "-")
	return fmt.Sprintf("%s-%d-%s%s", trial, attempt, kind[:min(1, len(kind))], index)
}

// Pod is a trial's pod of a role.
func Pod(t *v1alpha1.Trial, member string, o PodOptions) *corev1.Pod {
	pod := anywhere(t, member, o)
	if node := o.Bound[member]; node != "" {
		bind(pod, node)
	} else if pod.Labels[v1alpha1.LabelRole] == v1alpha1.RoleServer {
		bind(pod, roomy(o)...)
	}
	return pod
}

// anywhere is a pod that no earlier trial has bound to a node.
func anywhere(t *v1alpha1.Trial, member string, o PodOptions) *corev1.Pod {
	sweep := plan.SweepOf(t.Spec)
	index, err := record.ServerIndex(member)
	switch {
	case err != nil:
		return generatorPod(t, sweep, member, o)
	case sweep.Duet():
		return duetPod(t, sweep, index, o)
	}
	return serverPod(t, sweep, index, o)
}

// serverPod is the pinned server with its observer. Requests equal limits in every container, without which the pod
// is not Guaranteed and its pinning is lost in silence; the observer's fraction of a CPU keeps it on the shared ones.
func serverPod(t *v1alpha1.Trial, sweep plan.Sweep, index int, o PodOptions) *corev1.Pod {
	impl, member := sweep.Servers[index], record.MemberServer(index)
	pod := basePod(t, sweep, o, v1alpha1.RoleServer, member)
	server := corev1.Container{
		Name: ServerContainer, Image: impl.Image, Command: impl.Command,
		ImagePullPolicy:          corev1.PullIfNotPresent,
		Ports:                    []corev1.ContainerPort{{ContainerPort: impl.Port, Protocol: corev1.ProtocolTCP}},
		Resources:                equal(int64(impl.CPUs)*1000, *resource.NewQuantity(impl.MemoryBytes, resource.BinarySI)),
		SecurityContext:          restricted(false),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
	observer := agent(t, o, member, ObserverContainer, "observe", "--port="+strconv.Itoa(int(impl.Port)))
	observer.Resources = equal(plan.ObserverMilliCPU, resource.MustParse("64Mi"))
	pod.Spec.ShareProcessNamespace = ptr(true)
	pod.Spec.Containers = []corev1.Container{server, observer}
	return pod
}

// generatorPod is a load generator: the agent is its main process and runs the tool. It is pinned, unless the placement leaves
// that open and says how little CPU will do.
func generatorPod(t *v1alpha1.Trial, sweep plan.Sweep, member string, o PodOptions) *corev1.Pod {
	pod := basePod(t, sweep, o, v1alpha1.RoleGenerator, member)
	c := agent(t, o, member, GeneratorContainer, "generate")
	c.Resources = equal(plan.GeneratorMilliCPU(sweep.Generators, sweep.Placement), generatorMemory(sweep.Cells))
	if sweep.Placement.GeneratorPinning == record.Preferred {
		delete(c.Resources.Limits, corev1.ResourceCPU)
	}
	pod.Spec.Containers = []corev1.Container{c}
	pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: apart(sweep.Placement, o.RunUID)}
	return pod
}

// agentMemory is what a generator needs beside its tool.
const agentMemory = 192 << 20

// generatorMemory is what the largest cell of a generator needs, for each of the servers that it puts load on at a time.
func generatorMemory(cells []record.Cell) resource.Quantity {
	var most int64
	for _, c := range cells {
		most = max(most, int64(timetable.Servers(c))*tools.Needs(timetable.Share(c, 0)).MemoryBytes)
	}
	return *resource.NewQuantity(agentMemory+most, resource.BinarySI)
}

// apart keeps generators off the server's node, as strictly as the spec says.
func apart(p record.Placement, runUID string) *corev1.PodAntiAffinity {
	term := corev1.PodAffinityTerm{
		TopologyKey: corev1.LabelHostname,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{
			v1alpha1.LabelRunUID: runUID, v1alpha1.LabelRole: v1alpha1.RoleServer,
		}},
	}
	if p.SeparateNodes == record.Required {
		return &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}
	}
	return &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 100, PodAffinityTerm: term}}}
}

func basePod(t *v1alpha1.Trial, sweep plan.Sweep, o PodOptions, role, member string) *corev1.Pod {
	life := int64((timetable.End(timetable.Of(sweep.Cells)) + podMargin).Seconds())
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: PodName(t.Name, o.Attempt, member), Namespace: t.Namespace,
			Labels: map[string]string{
				v1alpha1.LabelRun: t.Spec.RunName, v1alpha1.LabelRunUID: o.RunUID, v1alpha1.LabelTrial: t.Name,
				v1alpha1.LabelAttempt: strconv.Itoa(int(o.Attempt)), v1alpha1.LabelRole: role, v1alpha1.LabelMember: member,
				"app.kubernetes.io/name": "loadstone", "app.kubernetes.io/component": role,
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1alpha1.GroupVersion.String(), Kind: "Trial", Name: t.Name, UID: t.UID,
				Controller: ptr(true), BlockOwnerDeletion: ptr(true),
			}},
		},
		Spec: corev1.PodSpec{
			RestartPolicy:                 corev1.RestartPolicyNever,
			AutomountServiceAccountToken:  ptr(false),
			EnableServiceLinks:            ptr(false),
			TerminationGracePeriodSeconds: ptr(int64(2)),
			ActiveDeadlineSeconds:         &life,
			NodeSelector:                  maps.Clone(plan.Selector(o.Nodes, role)),
			Tolerations:                   []corev1.Toleration{{Key: v1alpha1.TaintMeasure, Operator: corev1.TolerationOpExists}},
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: ptr(true), RunAsUser: ptr(int64(user)), RunAsGroup: ptr(int64(user)), FSGroup: ptr(int64(user)),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr(resource.MustParse("1Gi"))},
			}}},
		},
	}
}

// agent is a container of Loadstone's own: it knows its trial, its attempt and whom to obey, and holds no credential.
func agent(t *v1alpha1.Trial, o PodOptions, member, name string, args ...string) corev1.Container {
	return corev1.Container{
		Name: name, Image: o.AgentImage, Args: append(args, "--dir="+dataDir),
		ImagePullPolicy: corev1.PullIfNotPresent,
		Env: []corev1.EnvVar{
			{Name: protocol.EnvTrial, Value: string(t.UID)},
			{Name: protocol.EnvAttempt, Value: strconv.Itoa(int(o.Attempt))},
			{Name: protocol.EnvMember, Value: member},
			{Name: protocol.EnvKey, Value: base64.StdEncoding.EncodeToString(o.Key)},
			{Name: protocol.EnvNode, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "spec.nodeName"}}},
		},
		Ports:                    []corev1.ContainerPort{{ContainerPort: protocol.Port, Protocol: corev1.ProtocolTCP}},
		VolumeMounts:             []corev1.VolumeMount{{Name: "data", MountPath: dataDir}},
		SecurityContext:          restricted(true),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}

func restricted(readOnly bool) *corev1.SecurityContext {
	c := &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr(false), RunAsNonRoot: ptr(true),
		Capabilities:   &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	if readOnly {
		c.ReadOnlyRootFilesystem = ptr(true)
	}
	return c
}

func equal(milliCPU int64, memory resource.Quantity) corev1.ResourceRequirements {
	list := corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(milliCPU, resource.DecimalSI), corev1.ResourceMemory: memory}
	return corev1.ResourceRequirements{Requests: list, Limits: list.DeepCopy()}
}

func ptr[T any](v T) *T { return &v }
