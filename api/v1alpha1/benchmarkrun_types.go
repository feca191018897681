package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Role is the purpose of an implementation in a run.
// +kubebuilder:validation:Enum=Contender;Reference
type Role string

const (
	// RoleContender is compared with the baseline and can win or lose.
	RoleContender Role = "Contender"
	// RoleReference shows the practical limit of the hardware. It takes no part in verdicts.
	RoleReference Role = "Reference"
)

// Order is the schedule of a run's trials.
// +kubebuilder:validation:Enum=Blocks;SlicedDuet
type Order string

const (
	// OrderBlocks measures every implementation once per block, in seeded random order that every second block reverses.
	OrderBlocks Order = "Blocks"
	// OrderSlicedDuet runs two servers on the same CPU and switches one load between them in short slices of seeded random order. A
	// disturbance affects both equally.
	OrderSlicedDuet Order = "SlicedDuet"
)

// Strictness is how binding a placement rule is.
// +kubebuilder:validation:Enum=Required;Preferred
type Strictness string

const (
	// Required refuses the run, fails the trial or voids the cell if the rule is broken.
	Required Strictness = "Required"
	// Preferred measures anyway. The report marks shared CPUs and names the nodes.
	Preferred Strictness = "Preferred"
)

// HostNetwork is the network of the machine.
// +kubebuilder:validation:Enum=Host
type HostNetwork string

const (
	// NetworkHost lets all programs of a run on one machine use the machine's network.
	NetworkHost HostNetwork = "Host"
)

// Implementation is a server that answers HTTP requests, or a program that measures itself.
// +kubebuilder:validation:XValidation:rule="has(self.image) || has(self.command)",message="an implementation needs an image, or (on one machine) a command"
type Implementation struct {
	// name identifies the implementation: a DNS label of at most 20 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="an implementation's name: use lower-case letters, digits and '-'; start and end with a letter or digit"
	Name string `json:"name,omitempty"`

	// image is the container image. Required on a cluster. On one machine it is used if there is no command; it may also be the path of an
	// archive or of an OCI layout folder, beginning with / or ./, which is used even with a command.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// command is the argument vector that starts the server or program, without a shell; at most 64 arguments. Required with microbenchmark.
	// On one machine, a program outside an image is searched in PATH, or relative to the folder of the run file. Default: the entrypoint of
	// the image.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=1024
	Command []string `json:"command,omitempty"`

	ContainerSettings `json:",inline"`

	// dependencies are containers next to the server, such as a database, in the order in which they start; at most 4. They are new for every trial.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	Dependencies []Dependency `json:"dependencies,omitempty"`

	// readiness is when the server counts as started. Default: when it listens, within 30 seconds.
	// +optional
	Readiness Readiness `json:"readiness,omitzero"`

	// stopSignal is the signal with which Loadstone stops the server, under a profiler and on one machine. Elsewhere the container runtime
	// uses the image's signal. Default: SIGTERM.
	// +optional
	StopSignal StopSignal `json:"stopSignal,omitempty"`

	// port is the TCP port of the server. Required with loads.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// tls enables HTTPS on the port and sets how the certificate is verified. Default: plain HTTP.
	// +optional
	TLS TLS `json:"tls,omitzero"`

	// cpus is the number of exclusive whole CPUs. Default: 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	CPUs int32 `json:"cpus,omitempty"`

	// memory is the memory request and limit, at least 4Mi. Default: 256Mi.
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`

	// role is Contender (compared with the baseline) or Reference (shows the practical limit of the hardware, takes no part in verdicts).
	// Default: Contender.
	// +optional
	Role Role `json:"role,omitempty"`

	// build is how the server must have been built. Default: not checked.
	// +optional
	Build Build `json:"build,omitzero"`

	// claims are statements about the implementation. They are checked and reported, but never fail a trial. At most 32.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Claims []Claim `json:"claims,omitempty"`
}

// Placement restricts the CPUs and nodes of a run.
// +kubebuilder:validation:MinProperties=1
type Placement struct {
	// pinning is whether servers and generators need exclusive CPUs. It is checked in every cell; with Required, a cell without exclusive CPUs
	// is void. Default: Required.
	// +optional
	Pinning Strictness `json:"pinning,omitempty"`

	// generatorPinning is the same for generators only. With Preferred, generators share CPUs, and their latencies include the wait for each
	// other. Default: the value of pinning.
	// +optional
	GeneratorPinning Strictness `json:"generatorPinning,omitempty"`

	// separateNodes is whether servers and generators need different nodes. Default: Preferred.
	// +optional
	SeparateNodes Strictness `json:"separateNodes,omitempty"`

	// network is Host to let images on one machine use its network. Clusters refuse it. Default: a run of images has a loopback interface
	// for itself alone.
	// +optional
	Network HostNetwork `json:"network,omitempty"`

	// pods fit the measured pods into the cluster. One machine ignores them. Default: those of the installation (chart value runs.pods).
	// +optional
	Pods PodSettings `json:"pods,omitzero"`
}

// Validity tightens the limits above which a cell is void. Each is a share of 1, such as "0.0005". Limits cannot be loosened.
// +kubebuilder:validation:MinProperties=1
type Validity struct {
	// maxErrorRate is the maximum share of failed requests. Default and upper bound: 0.001.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:XValidation:rule="self.matches('^0([.][0-9]+)?$') && double(self) <= 0.001",message="validity.maxErrorRate must be a decimal from 0 to 0.001, such as \"0.0005\": limits can only be tightened"
	MaxErrorRate string `json:"maxErrorRate,omitempty"`

	// maxNeighbourCPU is the maximum share of the server's CPU time that other processes use. Default and upper bound: 0.15.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:XValidation:rule="self.matches('^0([.][0-9]+)?$') && double(self) <= 0.15",message="validity.maxNeighbourCPU must be a decimal from 0 to 0.15, such as \"0.1\": limits can only be tightened"
	MaxNeighbourCPU string `json:"maxNeighbourCPU,omitempty"`

	// maxSteal is the maximum share of the server's CPU time that the hypervisor takes. Default and upper bound: 0.05.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:XValidation:rule="self.matches('^0([.][0-9]+)?$') && double(self) <= 0.05",message="validity.maxSteal must be a decimal from 0 to 0.05, such as \"0.02\": limits can only be tightened"
	MaxSteal string `json:"maxSteal,omitempty"`
}

// Artifacts is where a run stores its artifacts.
// +kubebuilder:validation:MinProperties=1
type Artifacts struct {
	// prefix precedes all object keys of the run. Default: no prefix.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_-]+([/.][A-Za-z0-9_-]+)*$')",message="prefix: use path elements of letters, digits, '_', '-' and single dots, separated by '/', without a slash at either end"
	Prefix string `json:"prefix,omitempty"`
}

// The first rule names every field except suspend: CEL cannot exclude a field of an object. It compares list orders explicitly, because keyed
// lists are equal in any order.

// BenchmarkRunSpec is the benchmark to run. Only suspend can be changed: for another question, create another run.
// +kubebuilder:validation:XValidation:rule="self.implementations == oldSelf.implementations && self.implementations.map(i, i.name) == oldSelf.implementations.map(i, i.name) && has(self.baseline) == has(oldSelf.baseline) && (!has(self.baseline) || self.baseline == oldSelf.baseline) && has(self.loads) == has(oldSelf.loads) && (!has(self.loads) || self.loads == oldSelf.loads && self.loads.map(l, l.name) == oldSelf.loads.map(l, l.name)) && has(self.microbenchmark) == has(oldSelf.microbenchmark) && (!has(self.microbenchmark) || self.microbenchmark == oldSelf.microbenchmark) && has(self.profiles) == has(oldSelf.profiles) && (!has(self.profiles) || self.profiles == oldSelf.profiles) && has(self.blocks) == has(oldSelf.blocks) && (!has(self.blocks) || self.blocks == oldSelf.blocks) && has(self.stop) == has(oldSelf.stop) && (!has(self.stop) || self.stop == oldSelf.stop) && has(self.latencyPercentiles) == has(oldSelf.latencyPercentiles) && (!has(self.latencyPercentiles) || self.latencyPercentiles == oldSelf.latencyPercentiles) && has(self.order) == has(oldSelf.order) && (!has(self.order) || self.order == oldSelf.order) && has(self.seed) == has(oldSelf.seed) && (!has(self.seed) || self.seed == oldSelf.seed) && has(self.objectives) == has(oldSelf.objectives) && (!has(self.objectives) || self.objectives == oldSelf.objectives) && has(self.placement) == has(oldSelf.placement) && (!has(self.placement) || self.placement == oldSelf.placement) && has(self.validity) == has(oldSelf.validity) && (!has(self.validity) || self.validity == oldSelf.validity) && has(self.artifacts) == has(oldSelf.artifacts) && (!has(self.artifacts) || self.artifacts == oldSelf.artifacts) && has(self.timeoutSeconds) == has(oldSelf.timeoutSeconds) && (!has(self.timeoutSeconds) || self.timeoutSeconds == oldSelf.timeoutSeconds) && has(self.patienceSeconds) == has(oldSelf.patienceSeconds) && (!has(self.patienceSeconds) || self.patienceSeconds == oldSelf.patienceSeconds) && has(self.ttlSecondsAfterFinished) == has(oldSelf.ttlSecondsAfterFinished) && (!has(self.ttlSecondsAfterFinished) || self.ttlSecondsAfterFinished == oldSelf.ttlSecondsAfterFinished)",message="only suspend can change in the spec of a BenchmarkRun: delete the run, or create one with another name"
// +kubebuilder:validation:XValidation:rule="self.implementations.size() == 1 || has(self.baseline)",message="baseline is required with more than one implementation: name the one to compare with"
// +kubebuilder:validation:XValidation:rule="!has(self.baseline) || self.implementations.exists(i, i.name == self.baseline)",message="baseline must be the name of one of the implementations"
// +kubebuilder:validation:XValidation:rule="!has(self.baseline) || self.implementations.all(i, i.name != self.baseline || !has(i.role) || i.role == 'Contender')",message="baseline must be a Contender: choose another implementation, or remove its role Reference"
// +kubebuilder:validation:XValidation:rule="!has(self.order) || self.order != 'SlicedDuet' || self.implementations.size() == 2",message="order SlicedDuet needs exactly two implementations: create one run per pair"
// +kubebuilder:validation:XValidation:rule="!has(self.profiles) || has(self.loads)",message="profiles need loads: a profile sends the request of a load"
// +kubebuilder:validation:XValidation:rule="has(self.loads) != has(self.microbenchmark)",message="set either loads (for servers) or microbenchmark (for programs that measure themselves)"
type BenchmarkRunSpec struct {
	// implementations are the servers or programs to compare. Each is measured once per block, in a fresh process.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Implementations []Implementation `json:"implementations,omitempty"`

	// baseline is the implementation that the others are compared with. Required with more than one implementation.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	Baseline string `json:"baseline,omitempty"`

	// loads are the sweeps of each trial, in this order.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Loads []Load `json:"loads,omitempty"`

	// microbenchmark compares programs that measure themselves. Use it instead of loads.
	// +optional
	Microbenchmark Microbenchmark `json:"microbenchmark,omitzero"`

	// profiles run the implementations under profilers after all blocks. They take part in no verdict.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Profiles []Profile `json:"profiles,omitempty"`

	// blocks is how often every implementation is measured. Fewer than 7 give ratios, but no verdict. Default: 10.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Blocks int32 `json:"blocks,omitempty"`

	// stop ends the run early when its intervals are narrow enough. Default: all blocks are measured.
	// +optional
	Stop Stop `json:"stop,omitzero"`

	// latencyPercentiles are compared with the baseline: 50, 90, 95, 99 or 99.9. Default: 50 and 99.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=5
	// +kubebuilder:validation:items:Enum="50";"90";"95";"99";"99.9"
	LatencyPercentiles []string `json:"latencyPercentiles,omitempty"`

	// order is the schedule of the trials. SlicedDuet runs two single-CPU servers on the same CPU and switches the load of wrk between them
	// every 100 ms. It detects smaller differences, but measures no latencies. Default: Blocks.
	// +optional
	Order Order `json:"order,omitempty"`

	// seed sets the order of implementations and levels within each block; at most 53 bits, so that every JSON reader preserves it. The same spec and
	// seed give the same order. Default: derived from the run's UID; the report prints it.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9007199254740991
	Seed int64 `json:"seed,omitempty"`

	// objectives are bounds for measured values. The run succeeds only if all are met. At most 64.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Objectives []Objective `json:"objectives,omitempty"`

	// placement restricts the CPUs and nodes of the run.
	// +optional
	Placement Placement `json:"placement,omitzero"`

	// validity tightens the limits above which a cell is void.
	// +optional
	Validity Validity `json:"validity,omitzero"`

	// artifacts is where the run stores its artifacts.
	// +optional
	Artifacts Artifacts `json:"artifacts,omitzero"`

	// timeoutSeconds is the maximum duration of the run from the start of its turn, in seconds. Outages of the operator, the API server or
	// Argo do not count (status.absence). Default: three times the planned duration plus ten minutes.
	// +optional
	// +kubebuilder:validation:Minimum=30
	// +kubebuilder:validation:Maximum=604800
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"`

	// patienceSeconds is how long the run waits for conditions that can change, in seconds: slow or unavailable image pulls, nodes without
	// room, nodes that cannot start a container, a pod denied by a webhook or policy, a store that refuses its key, its bucket or more data.
	// An invalid spec is refused at once. Default: 600.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	PatienceSeconds int32 `json:"patienceSeconds,omitempty"`

	// ttlSecondsAfterFinished is how long the run's trials and workflows stay in the cluster after its end, in seconds. The run and its
	// artifacts stay. Default: 86400 (one day).
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=31536000
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// suspend keeps the run from starting. Other runs can proceed, and none of its time passes. You can change it at any time; it has no
	// effect on a started run. Default: false.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`
}

// BenchmarkRun compares implementations under load: which one is better, at what load, by how much, and how certain is that?
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=brun;bruns,categories=loadstone
// +kubebuilder:printcolumn:name="Progress",type=string,JSONPath=`.status.progress`
// +kubebuilder:printcolumn:name="Left",type=string,JSONPath=`.status.timeLeft`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Succeeded")].reason`
// +kubebuilder:printcolumn:name="Verdict",type=string,JSONPath=`.status.shortVerdict`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Succeeded",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Succeeded")].status`
// +kubebuilder:printcolumn:name="Report",type=string,priority=1,JSONPath=`.status.report.uri`
// +kubebuilder:printcolumn:name="Summary",type=string,priority=1,JSONPath=`.status.verdict`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 28",message="metadata.name of a BenchmarkRun: at most 28 characters, because trial and pod names contain it"
// +kubebuilder:validation:XValidation:rule="!self.metadata.name.contains('.')",message="metadata.name of a BenchmarkRun: no dots, because trial and pod names contain it"
type BenchmarkRun struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the benchmark to run.
	// +required
	Spec BenchmarkRunSpec `json:"spec,omitzero"`

	// status is the observed state of the run.
	// +optional
	// +default={"observedGeneration":-1}
	Status BenchmarkRunStatus `json:"status,omitzero"`
}

// BenchmarkRunList is a list of runs.
// +kubebuilder:object:root=true
type BenchmarkRunList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []BenchmarkRun `json:"items"`
}

// Stop ends a run early when its intervals are narrow enough. Interim analyses after 10, 20 and 30 blocks check only the width of the
// intervals: stopping at the first significant difference would report chance differences too often.
type Stop struct {
	// maxWidth is the interval width at which the run ends, as a share of the ratio, such as "0.05". It applies to the deciding interval of
	// every comparison, not to single levels, other metrics or searches. Verdicts of such a run need a smaller p-value, because the interim
	// analyses share the allowed error.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=8
	// +kubebuilder:validation:XValidation:rule="self.matches('^0\\\\.[0-9]*[1-9][0-9]*$')",message="stop.maxWidth must be a share between 0 and 1, such as \"0.05\""
	MaxWidth string `json:"maxWidth,omitempty"`
}

// IsZero reports whether there is no script.
func (s Script) IsZero() bool { return s == Script{} }

// IsZero reports whether there is no search.
func (s Search) IsZero() bool { return s == Search{} }

// IsZero reports whether the run measures all of its blocks.
func (s Stop) IsZero() bool { return s == Stop{} }

// IsZero reports whether there are no earlier runs.
func (e Earlier) IsZero() bool { return len(e.Runs) == 0 && e.LastGood == 0 && e.Anchor == "" }

// IsZero reports whether the run puts loads on servers.
func (m Microbenchmark) IsZero() bool {
	return m.Format == "" && m.LimitSeconds == 0 && len(m.Outputs) == 0
}

// Verification is how a server's certificate is verified.
// +kubebuilder:validation:Enum=Authority;None
type Verification string

const (
	// VerifyAuthority verifies the signature, the validity period and the server's name.
	VerifyAuthority Verification = "Authority"
	// VerifyNone verifies nothing.
	VerifyNone Verification = "None"
)

// TLS enables HTTPS for everything sent to the server: loads (HTTP/1.1 unless they ask for HTTP/2), the check before each trial, readiness,
// claims and profiles. Mount the server's certificate and key from a Secret with files.
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:XValidation:rule="has(self.ca) != (has(self.verify) && self.verify == 'None')",message="tls needs either ca, to verify the certificate, or verify: None"
// +kubebuilder:validation:XValidation:rule="has(self.ca) || !has(self.serverName)",message="tls.serverName needs ca: set ca, or remove serverName"
type TLS struct {
	// verify is how the check before each trial verifies the certificate: Authority (with ca) or None. The load generators never verify it.
	// Default: Authority if ca is set.
	// +optional
	Verify Verification `json:"verify,omitempty"`

	// ca are CA certificates in PEM, or the server's own certificate; at most 32,768 bytes. They are public and recorded.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32768
	CA string `json:"ca,omitempty"`

	// serverName is the DNS name or address that the certificate must be valid for. It is not sent: loads connect to the pod's address without
	// SNI. Default: names are not compared.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ServerName string `json:"serverName,omitempty"`
}
