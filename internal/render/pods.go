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
	"loadstone.dev/loadstone/internal/tool/ab"
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
	// Bound are the nodes to which the run is bound, by the role of the pod's agent; empty until a trial of it is stored.
	Bound map[string]string
	// LargestServer is the CPU that the largest server of the run needs with its observer, in thousandths.
	LargestServer int64
}

// PodName is the name of a trial's pod of a role, which is that of its agent: "-s" ends the server's, "-b" that of the server beside
// it, "-g0" a generator's.
func PodName(trial string, attempt int32, role string) string {
	switch role {
	case protocol.RoleObserver:
		return fmt.Sprintf("%s-%d-s", trial, attempt)
	case protocol.RoleBeside:
		return fmt.Sprintf("%s-%d-b", trial, attempt)
	}
	return fmt.Sprintf("%s-%d-g%s", trial, attempt, strings.TrimPrefix(role, record.RoleGenerator+"-"))
}

// Pod is a trial's pod of a role.
func Pod(t *v1alpha1.Trial, role string, o PodOptions) *corev1.Pod {
	pod := anywhere(t, role, o)
	if node := o.Bound[role]; node != "" {
		bind(pod, node)
	} else if pod.Labels[v1alpha1.LabelRole] == v1alpha1.RoleServer {
		bind(pod, roomy(o)...)
	}
	return pod
}

// anywhere is a pod that no earlier trial has bound to a node.
func anywhere(t *v1alpha1.Trial, role string, o PodOptions) *corev1.Pod {
	switch {
	case role == protocol.RoleObserver && t.Spec.Beside == nil:
		return serverPod(t, t.Spec.Implementation, role, o)
	case role == protocol.RoleObserver:
		return duetPod(t, t.Spec.Implementation, role, o)
	case role == protocol.RoleBeside:
		return duetPod(t, *t.Spec.Beside, role, o)
	}
	return generatorPod(t, role, o)
}

// serverPod is the pinned server with its observer. Requests equal limits in every container, without which the pod
// is not Guaranteed and its pinning is lost in silence; the observer's fraction of a CPU keeps it on the shared ones.
func serverPod(t *v1alpha1.Trial, impl v1alpha1.Implementation, role string, o PodOptions) *corev1.Pod {
	pod := basePod(t, o, v1alpha1.RoleServer, role)
	server := corev1.Container{
		Name: ServerContainer, Image: impl.Image, Command: impl.Command,
		ImagePullPolicy:          corev1.PullIfNotPresent,
		Ports:                    []corev1.ContainerPort{{ContainerPort: impl.Port, Protocol: corev1.ProtocolTCP}},
		Resources:                equal(int64(impl.CPUs)*1000, *impl.Memory),
		SecurityContext:          restricted(false),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
	observer := agent(t, o, ObserverContainer, "observe", "--port="+strconv.Itoa(int(impl.Port)))
	observer.Resources = equal(plan.ObserverMilliCPU, resource.MustParse("64Mi"))
	pod.Spec.ShareProcessNamespace = ptr(true)
	pod.Spec.Containers = []corev1.Container{server, observer}
	return pod
}

// generatorPod is a load generator: the agent is its main process and runs the tool. It is pinned, unless the placement leaves
// that open and says how little CPU will do.
func generatorPod(t *v1alpha1.Trial, role string, o PodOptions) *corev1.Pod {
	pod := basePod(t, o, v1alpha1.RoleGenerator, role)
	c := agent(t, o, GeneratorContainer, "generate")
	c.Env = append(c.Env, corev1.EnvVar{Name: protocol.EnvGenerator, Value: strings.TrimPrefix(role, record.RoleGenerator+"-")})
	c.Resources = equal(plan.GeneratorMilliCPU(t.Spec.Generators, t.Spec.Placement), generatorMemory(t))
	if t.Spec.Placement.GeneratorPinning == v1alpha1.Preferred {
		delete(c.Resources.Limits, corev1.ResourceCPU)
	}
	pod.Spec.Containers = []corev1.Container{c}
	pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: apart(t, o.RunUID)}
	return pod
}

// Memory of a generator: enough for the agent, the tool and its connections. wrk holds a buffer of 8 KiB and a parser for each
// connection; ab allots a record to each request that it may make; k6 holds a JavaScript engine a virtual user, and 8 bytes of
// each sample of several metrics.
const (
	baseMemory          = 192 << 20
	connectionMemory    = 16 << 10
	k6Memory            = 384 << 20
	k6VirtualUserMemory = 512 << 10
)

func generatorMemory(t *v1alpha1.Trial) resource.Quantity {
	var most int64
	for _, c := range t.Spec.Cells {
		share := int64(protocol.Share(c, 0).Connections) * int64(protocol.Players(c))
		need := share * connectionMemory
		switch c.Tool {
		case v1alpha1.ToolAb:
			need += ab.Requests(c.DurationSeconds) * ab.BytesPerRequest
		case v1alpha1.ToolK6:
			need += k6Memory + share*k6VirtualUserMemory
		case v1alpha1.ToolWrk:
		}
		most = max(most, need)
	}
	return *resource.NewQuantity(baseMemory+most, resource.BinarySI)
}

// apart keeps generators off the server's node, as strictly as the spec says.
func apart(t *v1alpha1.Trial, runUID string) *corev1.PodAntiAffinity {
	term := corev1.PodAffinityTerm{
		TopologyKey: corev1.LabelHostname,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{
			v1alpha1.LabelRunUID: runUID, v1alpha1.LabelRole: v1alpha1.RoleServer,
		}},
	}
	if t.Spec.Placement.SeparateNodes == v1alpha1.Required {
		return &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}
	}
	return &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 100, PodAffinityTerm: term}}}
}

func basePod(t *v1alpha1.Trial, o PodOptions, role, member string) *corev1.Pod {
	slots := protocol.Timetable(t.Spec.Cells)
	life := int64((slots[len(slots)-1].End + podMargin).Seconds())
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
func agent(t *v1alpha1.Trial, o PodOptions, name string, args ...string) corev1.Container {
	return corev1.Container{
		Name: name, Image: o.AgentImage, Args: append(args, "--dir="+dataDir),
		ImagePullPolicy: corev1.PullIfNotPresent,
		Env: []corev1.EnvVar{
			{Name: protocol.EnvTrial, Value: string(t.UID)},
			{Name: protocol.EnvAttempt, Value: strconv.Itoa(int(o.Attempt))},
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
