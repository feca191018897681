package v1alpha1

import "k8s.io/apimachinery/pkg/api/resource"

// ContainerSettings are what a container gets beside its image and its command.
type ContainerSettings struct {
	// args are the arguments after command, or after the entrypoint of the image, in the place of the image's own; at most 64. Nothing is expanded
	// in them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=1024
	Args []string `json:"args,omitempty"`

	// env are environment variables, in addition to the image's; at most 64.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Env []Variable `json:"env,omitempty"`

	// envFrom are ConfigMaps and Secrets of the run's namespace, each key of which is an environment variable; at most 8.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	EnvFrom []VariableSource `json:"envFrom,omitempty"`

	// files are folders of read-only files from ConfigMaps and Secrets of the run's namespace; at most 8.
	// +optional
	// +listType=map
	// +listMapKey=path
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Files []FileMount `json:"files,omitempty"`

	// scratch are empty folders to write to, new for every trial; at most 8.
	// +optional
	// +listType=map
	// +listMapKey=path
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Scratch []Scratch `json:"scratch,omitempty"`

	// resources are what the container gets of its node beside CPUs, memory and disk, such as hugepages-2Mi or nvidia.com/gpu; at most 8. Huge pages
	// are also mounted as a folder, /dev/hugepages-2Mi or as their name is.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Resources []ResourceAmount `json:"resources,omitempty"`

	// user is the numeric user that the server or the program runs as. Defaults to 65532 on a cluster, and to
	// the image's on one machine. 0 needs a namespace that admits root.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	User *int64 `json:"user,omitempty"`

	// group is the numeric group of the process and of its scratch folders. Defaults to 65532.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	Group *int64 `json:"group,omitempty"`

	// imagePullSecrets are Secrets of the run's namespace with which the image is pulled; at most 8.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	ImagePullSecrets []ObjectReference `json:"imagePullSecrets,omitempty"`
}

// Variable is an environment variable of a server or program.
// +kubebuilder:validation:XValidation:rule="!(has(self.value) && has(self.valueFrom))",message="a variable has a value or a valueFrom, not both"
type Variable struct {
	// name is the variable's: letters, digits and underscores, with no digit first.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z_][A-Za-z0-9_]*$')",message="a variable's name must be letters, digits and '_', and begin with no digit"
	Name string `json:"name,omitempty"`

	// value is the variable's text, as it stands: nothing is expanded in it. It is recorded and printed: use valueFrom for a secret.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Value *string `json:"value,omitempty"`

	// valueFrom is the key of a ConfigMap or Secret of the run's namespace from which the value is taken. A Secret's values are never recorded.
	// +optional
	ValueFrom ValueSource `json:"valueFrom,omitzero"`
}

// ValueSource is where a variable's value is.
// +kubebuilder:validation:XValidation:rule="has(self.configMapKeyRef) != has(self.secretKeyRef)",message="valueFrom has either a configMapKeyRef or a secretKeyRef"
// +kubebuilder:validation:MinProperties=1
type ValueSource struct {
	// configMapKeyRef is a key of a ConfigMap.
	// +optional
	ConfigMapKeyRef KeyReference `json:"configMapKeyRef,omitzero"`

	// secretKeyRef is a key of a Secret.
	// +optional
	SecretKeyRef KeyReference `json:"secretKeyRef,omitzero"`
}

// KeyReference is a key of an object of the run's namespace.
type KeyReference struct {
	// name is the object's.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// key is what the object has the value under.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key,omitempty"`
}

// ObjectReference is an object of the run's namespace.
type ObjectReference struct {
	// name is the object's.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}

// ObjectKind is the kind of an object that is read.
// +kubebuilder:validation:Enum=ConfigMap;Secret
type ObjectKind string

const (
	// KindConfigMap is a ConfigMap.
	KindConfigMap ObjectKind = "ConfigMap"
	// KindSecret is a Secret.
	KindSecret ObjectKind = "Secret"
)

// VariableSource makes a variable of each key of a ConfigMap or Secret.
type VariableSource struct {
	// kind is ConfigMap or Secret.
	// +required
	Kind ObjectKind `json:"kind,omitempty"`

	// name is the object's.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// prefix is put before each key.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z_][A-Za-z0-9_]*$')",message="a prefix must be letters, digits and '_', and begin with no digit"
	Prefix string `json:"prefix,omitempty"`
}

// FileMount puts the keys of a ConfigMap or Secret as read-only files into a folder.
// +kubebuilder:validation:XValidation:rule="has(self.configMap) != has(self.secret)",message="an item of files has either a configMap or a secret"
type FileMount struct {
	// path is the folder, which hides what the image has there. It is absolute.
	// +required
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^/[^:]*$') && !self.matches('(^|/)[.][.]?(/|$)')",message="path must be absolute, without ':', '.' and '..'"
	Path string `json:"path,omitempty"`

	// configMap is the ConfigMap that has the files.
	// +optional
	ConfigMap ObjectReference `json:"configMap,omitzero"`

	// secret is the Secret that has the files.
	// +optional
	Secret ObjectReference `json:"secret,omitzero"`
}

// Scratch is an empty, writable folder, which is gone with its trial.
type Scratch struct {
	// path is the folder, which hides what the image has there. It is absolute.
	// +required
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^/[^:]*$') && !self.matches('(^|/)[.][.]?(/|$)')",message="path must be absolute, without ':', '.' and '..'"
	Path string `json:"path,omitempty"`

	// size is the most that may be written; a pod that writes more is evicted. Defaults to 256Mi.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
}

// ResourceAmount is how much of a resource of its node a container gets, request and limit alike.
type ResourceAmount struct {
	// name is the resource's, as nodes offer it: hugepages- and a size, or a name with a domain.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// amount is a whole number, or bytes of huge pages, such as 64Mi, a multiple of their size. Defaults to 1, and has to be given for huge pages.
	// +optional
	Amount *resource.Quantity `json:"amount,omitempty"`
}

// StopSignal tells a server to end.
// +kubebuilder:validation:Enum=SIGHUP;SIGINT;SIGQUIT;SIGTERM;SIGUSR1;SIGUSR2
type StopSignal string

// Readiness is when a server or a dependency counts as started. Without it, one has started when it listens on its port.
// +kubebuilder:validation:MinProperties=1
type Readiness struct {
	// path is asked by GET, once the port is open, until the answer has a status of 2xx. If absent, nothing is asked.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^/[!-~]*$')",message="path must begin with '/' and hold printable ASCII without spaces; percent-encode everything else"
	Path string `json:"path,omitempty"`

	// timeoutSeconds is how long it may take from its start until it is ready. Defaults to 30 for a server, which has 60 at least
	// under a profiler; at most 600.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=600
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"`
}

// Dependency is a container that a server needs beside it, such as a database. It runs in the pod of the server, which reaches it at localhost, is
// new for every trial, and has started before the server starts.
type Dependency struct {
	// name identifies the dependency among those of its implementation. It is a DNS label of at most 20 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a dependency's name must be lower-case letters, digits and '-', and begin and end with a letter or digit"
	Name string `json:"name,omitempty"`

	// image is the container image.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// command is the argument vector that starts the dependency. No shell is involved. Defaults to the entrypoint of the image; at most 64 arguments.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=1024
	Command []string `json:"command,omitempty"`

	ContainerSettings `json:",inline"`

	// port is a TCP port on which the dependency listens, on all addresses, once it is ready. The server starts then. If absent, the server starts as
	// soon as the dependency runs.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// readiness is when the dependency counts as started: with a path, once port answers it with a status of 2xx or 3xx. timeoutSeconds defaults to
	// 60.
	// +optional
	Readiness Readiness `json:"readiness,omitzero"`

	// cpu is the CPU request and limit, such as 2 or 500m. A whole number of CPUs is the dependency's own. Anything else is time on the CPUs of the
	// node that nobody owns. It is never on the CPUs of the server. Defaults to 1.
	// +optional
	CPU *resource.Quantity `json:"cpu,omitempty"`

	// memory is the memory request and limit. Defaults to 256Mi; at least 4Mi.
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`
}
