package v1alpha1

import corev1 "k8s.io/api/core/v1"

// PodSettings fit measured pods into a cluster: policies, taints, node pools, security rules. They hold for all pods of a run: servers,
// generators, programs and profiles. The chart value runs.pods has the same fields for all runs. A run adds to its labels, annotations,
// nodeSelector and tolerations, and replaces the rest.
// +kubebuilder:validation:MinProperties=1
type PodSettings struct {
	// labels are additional labels; at most 32. Loadstone's own labels cannot be changed.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('loadstone.dev/'))",message="Loadstone sets loadstone.dev/ keys itself: remove them."
	// +kubebuilder:validation:XValidation:rule="self.all(k, !(k in ['app.kubernetes.io/name', 'app.kubernetes.io/component']))",message="Loadstone sets app.kubernetes.io/name and component: remove them"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !(k in ['sidecar.istio.io/inject', 'istio.io/dataplane-mode']))",message="Loadstone opts out of Istio itself: remove istio.io keys"
	Labels map[string]string `json:"labels,omitempty"`

	// annotations are additional annotations; at most 32. Loadstone's own annotations cannot be changed.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('loadstone.dev/'))",message="Loadstone sets loadstone.dev/ keys itself: remove them."
	// +kubebuilder:validation:XValidation:rule="self.all(k, !(k in ['cluster-autoscaler.kubernetes.io/safe-to-evict', 'karpenter.sh/do-not-disrupt']))",message="Loadstone keeps autoscalers off itself: remove their keys"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !(k in ['sidecar.istio.io/inject', 'linkerd.io/inject']))",message="Loadstone opts out of meshes itself: remove these keys"
	Annotations map[string]string `json:"annotations,omitempty"`

	// nodeSelector are labels that nodes must have, in addition to the label of a role; at most 16.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('loadstone.dev/'))",message="Loadstone sets loadstone.dev/ keys itself: remove them."
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations are taints that the pods tolerate, in addition to loadstone.dev/measure; at most 16.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// affinity selects nodes by more than equal labels. It no longer matters once a run is bound to its nodes.
	// +optional
	Affinity Affinity `json:"affinity,omitzero"`

	// priorityClassName is the PriorityClass of the pods, except one of Kubernetes' own (system-...).
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('system-')",message="classes that begin with system- are for the cluster's own pods: choose another"
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// runtimeClassName is the RuntimeClass of the pods.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	RuntimeClassName string `json:"runtimeClassName,omitempty"`

	// serviceAccountName is the service account of the pods, in the run's namespace. Its token is never mounted. Default: default.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// securityContext changes users and groups. Everything else stays as Pod Security restricted requires.
	// +optional
	SecurityContext PodSecurity `json:"securityContext,omitzero"`
}

// Affinity selects nodes.
// +kubebuilder:validation:MinProperties=1
type Affinity struct {
	// nodeAffinity is the node affinity of a pod.
	// +optional
	NodeAffinity *corev1.NodeAffinity `json:"nodeAffinity,omitempty"`
}

// Chooser is who chooses user and groups of pods.
// +kubebuilder:validation:Enum=Loadstone;Platform
type Chooser string

const (
	// ChooserLoadstone sets 65532, or the given values.
	ChooserLoadstone Chooser = "Loadstone"
	// ChooserPlatform sets nothing: the cluster assigns user and groups.
	ChooserPlatform Chooser = "Platform"
)

// PodSecurity sets users and groups of pods.
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:XValidation:rule="!has(self.ids) || self.ids != 'Platform' || !(has(self.runAsUser) || has(self.runAsGroup) || has(self.fsGroup))",message="ids Platform excludes runAsUser, runAsGroup and fsGroup: remove them, or ids"
type PodSecurity struct {
	// ids is who chooses runAsUser, runAsGroup and fsGroup: Loadstone, or Platform for clusters that assign a user to each namespace, such as
	// OpenShift. Default: Loadstone.
	// +optional
	IDs Chooser `json:"ids,omitempty"`

	// runAsUser is the user id of containers without user. Default: 65532.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	RunAsUser int64 `json:"runAsUser,omitempty"`

	// runAsGroup is the group id of containers without group. Default: 65532.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	RunAsGroup int64 `json:"runAsGroup,omitempty"`

	// fsGroup is the group id of volumes. Default: 65532.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	FSGroup int64 `json:"fsGroup,omitempty"`

	// supplementalGroups are more group ids; at most 16.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:Minimum=1
	SupplementalGroups []int64 `json:"supplementalGroups,omitempty"`

	// seLinuxOptions is the SELinux label of the pods.
	// +optional
	SELinuxOptions SELinuxOptions `json:"seLinuxOptions,omitzero"`
}

// SELinuxOptions is the part of an SELinux label that Pod Security restricted permits.
// +kubebuilder:validation:MinProperties=1
type SELinuxOptions struct {
	// type is the type of the label.
	// +optional
	// +kubebuilder:validation:Enum=container_t;container_init_t;container_kvm_t;container_engine_t
	Type string `json:"type,omitempty"`

	// level is the level of the label, such as s0:c1,c2.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Level string `json:"level,omitempty"`
}
