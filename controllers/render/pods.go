package render

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

const (
	dataDir = "/var/lib/loadstone"
	// Bringer is the init container that copies the agent into a program's pod. Its requests are as small as the collector's.
	Bringer         = "bring"
	bringerMilliCPU = 200
	bringerMemory   = 64 << 20
	// A program, its parent and its collector share ExchangeVolume; exchangeDir is its mount path, and agentFile the agent in it.
	ExchangeVolume = "loadstone"
	exchangeDir    = "/loadstone"
	agentFile      = "loadstone-agent"
	// diskBytes is what a process may write to its node's disk, including output, besides the pod's volumes.
	diskBytes = 2 << 30
	// podMargin is how much longer than its timetable a measured pod may live, even without an operator.
	podMargin = 20 * time.Minute
)

// PodOptions are the inputs of pods besides the trial.
type PodOptions struct {
	AgentImage   string
	ToolboxImage string
	// PullSecrets are the common pull Secrets of all pods, in addition to the implementation's.
	PullSecrets []string
	// Key is the operator's public key: agents obey only commands signed with it.
	Key     ed25519.PublicKey
	RunUID  string
	Attempt int32
	Nodes   []plan.Node
	Bound   map[string]string
	// LargestServer is the largest request of the run's servers on one node.
	LargestServer plan.Demand
	// Patience is spec.patienceSeconds, for image pulls.
	Patience time.Duration
	// Pods are the settings of the run and the installation.
	Pods v1alpha1.PodSettings
}

// PodName is the name of a member's pod: "-s0" for the first server, "-g0" for the first generator.
func PodName(trial string, attempt int32, member string) string {
	kind, index, _ := strings.Cut(member, "-")
	return fmt.Sprintf("%s-%d-%s%s", trial, attempt, kind[:min(1, len(kind))], index)
}

// Pod is a member of a trial that takes this long from its first cell to its last.
func Pod(t *v1alpha1.Trial, m kind.Member, length time.Duration, o PodOptions) *corev1.Pod {
	pod := anywhere(t, m, length, o)
	if node := o.Bound[m.Name]; node != "" {
		bind(pod, node)
	} else if pod.Labels[v1alpha1.LabelRole] == v1alpha1.RoleServer {
		restrict(pod, roomy(o), o.Pods)
	}
	return pod
}

// anywhere is a pod without a bound node. Requests equal limits in every container with exclusive CPUs: otherwise the pod is not Guaranteed
// and is silently not pinned.
func anywhere(t *v1alpha1.Trial, m kind.Member, length time.Duration, o PodOptions) *corev1.Pod {
	pod := basePod(t, length, o, m.Role, m.Name)
	for _, p := range m.Processes {
		c := container(t, o, m.Name, p)
		equip(pod, &c, p, o.Pods.SecurityContext)
		if p.Dependency != "" {
			pod.Spec.InitContainers = append(pod.Spec.InitContainers, c)
			continue
		}
		pod.Spec.Containers = append(pod.Spec.Containers, c)
		podUser(pod, p.Container)
		if p.Launched {
			pod.Spec.InitContainers = append(pod.Spec.InitContainers, bringer(o, p.Toolbox))
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: ExchangeVolume, VolumeSource: corev1.VolumeSource{
				EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr(resource.MustParse("256Mi"))},
			}})
		}
	}
	if len(m.Processes) > 1 {
		pod.Spec.ShareProcessNamespace = ptr(true)
	}
	if user := pod.Spec.SecurityContext.RunAsUser; user != nil && *user == 0 {
		asRoot(pod)
	}
	pod.Spec.Affinity = affinity(t, m, o)
	return pod
}

func affinity(t *v1alpha1.Trial, m kind.Member, o PodOptions) *corev1.Affinity {
	var a corev1.Affinity
	switch {
	case m.With != "":
		a.PodAffinity = together(t, m.With, o)
	case m.Apart != "":
		a.PodAntiAffinity = apart(m.Apart, o.RunUID)
	}
	a.NodeAffinity = o.Pods.Affinity.NodeAffinity.DeepCopy()
	if a == (corev1.Affinity{}) {
		return nil
	}
	return &a
}

func container(t *v1alpha1.Trial, o PodOptions, member string, p kind.Process) corev1.Container {
	var c corev1.Container
	if p.IsAgent() {
		c = agent(t, o, member, p.Name, literals(p.Args)...)
	} else {
		c = corev1.Container{
			Name: p.Name, Image: p.Image, Command: literals(p.Command), Args: literals(p.Container.Args), ImagePullPolicy: corev1.PullIfNotPresent,
			SecurityContext: restricted(false), TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		}
	}
	if p.Launched {
		c.Command = slices.Concat([]string{exchangeDir + "/" + agentFile, "launch", "--exchange=" + exchangeDir, "--"}, literals(p.Command))
	}
	if p.Exchanges {
		c.Args = append(c.Args, "--exchange="+exchangeDir)
	}
	if p.Launched || p.Exchanges {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: ExchangeVolume, MountPath: exchangeDir})
	}
	if p.Dependency != "" {
		sidecar(&c, p)
	}
	if p.Port > 0 {
		c.Ports = []corev1.ContainerPort{{ContainerPort: p.Port, Protocol: corev1.ProtocolTCP}}
	}
	c.Resources = equal(p.MilliCPU, *resource.NewQuantity(p.MemoryBytes, resource.BinarySI))
	// No request: not every node accounts for its disk.
	c.Resources.Requests[corev1.ResourceEphemeralStorage] = resource.Quantity{Format: resource.BinarySI}
	c.Resources.Limits[corev1.ResourceEphemeralStorage] = *resource.NewQuantity(diskBytes, resource.BinarySI)
	if p.CPU == kind.Unlimited {
		delete(c.Resources.Limits, corev1.ResourceCPU)
	}
	return c
}

// sidecar makes a container a dependency of those after it: the kubelet starts them when it is ready, and stops it after them. A probe that
// keeps failing ends it; its last output is in the pod's status.
func sidecar(c *corev1.Container, p kind.Process) {
	c.RestartPolicy = ptr(corev1.ContainerRestartPolicyAlways)
	if p.Port == 0 {
		return
	}
	ready, port := p.Container.Readiness, intstr.FromInt32(p.Port)
	// The first probe is at once, the last one at the end of the time limit.
	c.StartupProbe = &corev1.Probe{PeriodSeconds: 1, TimeoutSeconds: 1, SuccessThreshold: 1, FailureThreshold: ready.Seconds + 1}
	if ready.Path != "" {
		c.StartupProbe.HTTPGet = &corev1.HTTPGetAction{Path: ready.Path, Port: port, Scheme: corev1.URISchemeHTTP}
	} else {
		c.StartupProbe.TCPSocket = &corev1.TCPSocketAction{Port: port}
	}
}

// bringer copies the agent, and the profilers if needed, into the folder shared with a program.
func bringer(o PodOptions, toolbox bool) corev1.Container {
	args := []string{"bring", exchangeDir + "/" + agentFile}
	image := o.AgentImage
	if toolbox {
		args = append(args, path.Join(exchangeDir, profiler.ToolboxFolder))
		image = o.ToolboxImage
	}
	return corev1.Container{
		Name: Bringer, Image: image, Args: args, ImagePullPolicy: corev1.PullIfNotPresent,
		VolumeMounts:    []corev1.VolumeMount{{Name: ExchangeVolume, MountPath: exchangeDir}},
		SecurityContext: restricted(true), TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		// Pinning needs requests equal to limits in every container.
		Resources: equal(bringerMilliCPU, *resource.NewQuantity(bringerMemory, resource.BinarySI)),
	}
}

// apart keeps generators off the server's node, as strictly as the spec requires.
func apart(strictly record.Strictness, runUID string) *corev1.PodAntiAffinity {
	term := corev1.PodAffinityTerm{
		TopologyKey: corev1.LabelHostname,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{
			v1alpha1.LabelRunUID: runUID, v1alpha1.LabelRole: v1alpha1.RoleServer,
		}},
	}
	if strictly == record.Required {
		return &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}
	}
	return &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 100, PodAffinityTerm: term}}}
}

func together(t *v1alpha1.Trial, with string, o PodOptions) *corev1.PodAffinity {
	return &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
		TopologyKey: corev1.LabelHostname,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{
			v1alpha1.LabelRunUID: o.RunUID, v1alpha1.LabelTrial: t.Name, v1alpha1.LabelMember: with,
			v1alpha1.LabelAttempt: strconv.Itoa(int(o.Attempt)),
		}},
	}}}
}

func basePod(t *v1alpha1.Trial, length time.Duration, o PodOptions, role, member string) *corev1.Pod {
	life := int64((length + podMargin + o.Patience).Seconds())
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: PodName(t.Name, o.Attempt, member), Namespace: t.Namespace,
			Labels: with(o.Pods.Labels, meshLabels, map[string]string{
				v1alpha1.LabelRun: t.Spec.RunName, v1alpha1.LabelRunUID: o.RunUID, v1alpha1.LabelTrial: t.Name,
				v1alpha1.LabelAttempt: strconv.Itoa(int(o.Attempt)), v1alpha1.LabelRole: role, v1alpha1.LabelMember: member,
				"app.kubernetes.io/name": "loadstone", "app.kubernetes.io/component": role,
			}),
			// Moving the pod would cost its trial, so autoscalers must leave it.
			Annotations: with(o.Pods.Annotations, meshAnnotations, map[string]string{"cluster-autoscaler.kubernetes.io/safe-to-evict": "false", "karpenter.sh/do-not-disrupt": "true"}),
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
			NodeSelector:                  with(o.Pods.NodeSelector, plan.Selector(o.Nodes, role)),
			Tolerations:                   append([]corev1.Toleration{{Key: v1alpha1.TaintMeasure, Operator: corev1.TolerationOpExists}}, o.Pods.Tolerations...),
			PriorityClassName:             o.Pods.PriorityClassName,
			RuntimeClassName:              optional(o.Pods.RuntimeClassName),
			ServiceAccountName:            o.Pods.ServiceAccountName,
			ImagePullSecrets:              references(o.PullSecrets),
			SecurityContext:               podSecurity(o.Pods.SecurityContext),
			Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr(resource.MustParse("1Gi"))},
			}}},
		},
	}
}

func references(names []string) []corev1.LocalObjectReference {
	var out []corev1.LocalObjectReference
	for _, name := range names {
		out = append(out, corev1.LocalObjectReference{Name: name})
	}
	return out
}

// agent is a Loadstone container: it knows its trial, its attempt and the operator's key, and holds no credentials.
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

// bind restricts a pod to a node. Its labels no longer matter: a chosen node stays chosen.
func bind(pod *corev1.Pod, node string) {
	if pod.Spec.Affinity != nil {
		pod.Spec.Affinity.NodeAffinity = nil
	}
	restrict(pod, []string{node}, v1alpha1.PodSettings{})
}

// restrict restricts a pod to named nodes, if there are any, and to the settings' nodes.
func restrict(pod *corev1.Pod, nodes []string, settings v1alpha1.PodSettings) {
	if len(nodes) == 0 {
		return
	}
	pod.Spec.NodeSelector = maps.Clone(settings.NodeSelector)
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	if pod.Spec.Affinity.NodeAffinity == nil {
		pod.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	required := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil {
		required = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}}
	}
	var terms []corev1.NodeSelectorTerm
	for _, term := range required.NodeSelectorTerms {
		for _, name := range nodes {
			// By the node's own name: its hostname label may be another.
			own := *term.DeepCopy()
			own.MatchFields = append(own.MatchFields, corev1.NodeSelectorRequirement{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{name}})
			terms = append(terms, own)
		}
	}
	pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: terms}
}

// roomy are the server nodes that fit the run's largest server, if some do not: all trials use the node of the first one, whose server may be
// smaller.
func roomy(o PodOptions) []string {
	selector := plan.Selector(o.Nodes, v1alpha1.RoleServer)
	var fit []string
	small := false
	for _, n := range o.Nodes {
		if n.Excluded || selector != nil && n.Role != v1alpha1.RoleServer {
			continue
		}
		if n.Has(o.LargestServer) {
			fit = append(fit, n.Name)
		} else {
			small = true
		}
	}
	if !small {
		return nil
	}
	slices.Sort(fit)
	return fit
}
