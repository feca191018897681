package v1alpha1

import "k8s.io/apimachinery/pkg/api/resource"

// ContainerSettings are settings of a container besides its image and command.
type ContainerSettings struct {
	// args are the arguments after command or after the image's entrypoint, and replace the image's arguments; at most 64. Nothing is expanded
	// in them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=1024
	Args []string `json:"args,omitempty"`

	// env are environment variables in addition to those of the image; at most 64.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Env []Variable `json:"env,omitempty"`

	// envFrom are ConfigMaps and Secrets in the run's namespace; each key becomes an environment variable. At most 8.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	EnvFrom []VariableSource `json:"envFrom,omitempty"`

	// files are folders of read-only files from ConfigMaps and Secrets in the run's namespace; at most 8.
	// +optional
	// +listType=map
	// +listMapKey=path
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Files []FileMount `json:"files,omitempty"`

	// scratch are empty writable folders, new for every trial; at most 8.
	// +optional
	// +listType=map
	// +listMapKey=path
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Scratch []Scratch `json:"scratch,omitempty"`

	// resources are node resources other than CPU, memory and disk, such as hugepages-2Mi or nvidia.com/gpu; at most 8. Huge pages are also
	// mounted under their name, such as /dev/hugepages-2Mi.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Resources []ResourceAmount `json:"resources,omitempty"`

	// user is the numeric user id of the process. 0 needs a namespace that admits root. Default: 65532 on a cluster, the image's user on one
	// machine.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	User *int64 `json:"user,omitempty"`

	// group is the numeric group id of the process and its scratch folders. Default: 65532.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	Group *int64 `json:"group,omitempty"`

	// imagePullSecrets are Secrets in the run's namespace for pulling the image; at most 8.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	ImagePullSecrets []ObjectReference `json:"imagePullSecrets,omitempty"`
}

// Variable is an environment variable.
// +kubebuilder:validation:XValidation:rule="!(has(self.value) && has(self.valueFrom))",message="value and valueFrom exclude each other: remove one"
type Variable struct {
	// name is the name of the variable: letters, digits and underscores, not starting with a digit.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z_][A-Za-z0-9_]*$')",message="a variable's name: use letters, digits and '_'; do not start with a digit"
	Name string `json:"name,omitempty"`

	// value is the literal value; nothing is expanded. It is recorded and printed: for secrets use valueFrom.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Value *string `json:"value,omitempty"`

	// valueFrom is a key of a ConfigMap or Secret in the run's namespace. Values of Secrets are never recorded.
	// +optional
	ValueFrom ValueSource `json:"valueFrom,omitzero"`
}

// ValueSource is the source of a variable's value.
// +kubebuilder:validation:XValidation:rule="has(self.configMapKeyRef) != has(self.secretKeyRef)",message="valueFrom needs either configMapKeyRef or secretKeyRef"
// +kubebuilder:validation:MinProperties=1
type ValueSource struct {
	// configMapKeyRef is a key of a ConfigMap.
	// +optional
	ConfigMapKeyRef KeyReference `json:"configMapKeyRef,omitzero"`

	// secretKeyRef is a key of a Secret.
	// +optional
	SecretKeyRef KeyReference `json:"secretKeyRef,omitzero"`
}

// KeyReference is a key of a ConfigMap or Secret in the same namespace.
type KeyReference struct {
	// name is the name of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// key is the key in the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key,omitempty"`
}

// ObjectReference is an object in the run's namespace.
type ObjectReference struct {
	// name is the name of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}

// ObjectKind is ConfigMap or Secret.
// +kubebuilder:validation:Enum=ConfigMap;Secret
type ObjectKind string

const (
	// KindConfigMap is a ConfigMap.
	KindConfigMap ObjectKind = "ConfigMap"
	// KindSecret is a Secret.
	KindSecret ObjectKind = "Secret"
)

// VariableSource makes each key of a ConfigMap or Secret an environment variable.
type VariableSource struct {
	// kind is ConfigMap or Secret.
	// +required
	Kind ObjectKind `json:"kind,omitempty"`

	// name is the name of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// prefix is put before each key. Default: no prefix.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z_][A-Za-z0-9_]*$')",message="prefix: use letters, digits and '_'; do not start with a digit"
	Prefix string `json:"prefix,omitempty"`
}

// FileMount mounts the keys of a ConfigMap or Secret as read-only files.
// +kubebuilder:validation:XValidation:rule="has(self.configMap) != has(self.secret)",message="files: each item needs either configMap or secret"
type FileMount struct {
	// path is the absolute path of the folder. It hides the image's files at that path.
	// +required
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^/[^:]*$') && !self.matches('(^|/)[.][.]?(/|$)')",message="path must be absolute, without ':' and without the elements '.' and '..'"
	Path string `json:"path,omitempty"`

	// configMap is the ConfigMap with the files.
	// +optional
	ConfigMap ObjectReference `json:"configMap,omitzero"`

	// secret is the Secret with the files.
	// +optional
	Secret ObjectReference `json:"secret,omitzero"`
}

// Scratch is an empty writable folder that is deleted after the trial.
type Scratch struct {
	// path is the absolute path of the folder. It hides the image's files at that path.
	// +required
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^/[^:]*$') && !self.matches('(^|/)[.][.]?(/|$)')",message="path must be absolute, without ':' and without the elements '.' and '..'"
	Path string `json:"path,omitempty"`

	// size is the maximum size; a pod that exceeds it is evicted. Default: 256Mi.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
}

// ResourceAmount is a node resource; request and limit are equal.
type ResourceAmount struct {
	// name is the name of the resource on nodes: hugepages-SIZE, or a name with a domain.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// amount is a whole number, or bytes of huge pages such as 64Mi (a multiple of their size). Required for huge pages. Default: 1.
	// +optional
	Amount *resource.Quantity `json:"amount,omitempty"`
}

// StopSignal is a signal that stops a server.
// +kubebuilder:validation:Enum=SIGHUP;SIGINT;SIGQUIT;SIGTERM;SIGUSR1;SIGUSR2
type StopSignal string

// Readiness is when a server or dependency counts as started.
// +kubebuilder:validation:MinProperties=1
type Readiness struct {
	// path is requested with GET once the port is open, until the answer has status 2xx. Default: no request; the open port is enough.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^/[!-~]*$')",message="path must start with '/' and contain only printable ASCII without spaces: percent-encode everything else"
	Path string `json:"path,omitempty"`

	// timeoutSeconds is the maximum time from start to ready, in seconds; at most 600. Default: 30 for a server, at least 60 under a profiler.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=600
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"`
}

// Dependency is a container in the server's pod, such as a database, reachable at localhost. It is new for every trial and starts before the
// server.
type Dependency struct {
	// name identifies the dependency in its implementation: a DNS label of at most 20 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a dependency's name: use lower-case letters, digits and '-'; start and end with a letter or digit"
	Name string `json:"name,omitempty"`

	// image is the container image.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// command is the argument vector that starts the dependency, without a shell; at most 64 arguments. Default: the entrypoint of the image.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=1024
	Command []string `json:"command,omitempty"`

	ContainerSettings `json:",inline"`

	// port is the TCP port on which a ready dependency listens, on all addresses. The server starts afterwards. If absent, the server starts
	// as soon as the dependency runs.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// readiness is when the dependency counts as started. With a path, any status 2xx or 3xx on port is enough. Default of timeoutSeconds: 60.
	// +optional
	Readiness Readiness `json:"readiness,omitzero"`

	// cpu is the CPU request and limit, such as 2 or 500m. Whole CPUs are exclusive; fractions run on the node's shared CPUs. It never uses
	// the server's CPUs. Default: 1.
	// +optional
	CPU *resource.Quantity `json:"cpu,omitempty"`

	// memory is the memory request and limit, at least 4Mi. Default: 256Mi.
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`
}
