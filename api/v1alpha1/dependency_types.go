package v1alpha1

import "k8s.io/apimachinery/pkg/api/resource"

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
