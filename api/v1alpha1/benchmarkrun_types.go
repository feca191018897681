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
	// RoleReference is measured and shown as the practical limit of the hardware. It takes no part in verdicts.
	RoleReference Role = "Reference"
)

// Order is the schedule of a run's trials.
// +kubebuilder:validation:Enum=Blocks;SlicedDuet
type Order string

const (
	// OrderBlocks runs every implementation once per block, in seeded random order within the block.
	OrderBlocks Order = "Blocks"
	// OrderSlicedDuet runs two servers on the same CPU and switches one load between them in short slices of seeded random order, so that
	// a disturbance affects both equally.
	OrderSlicedDuet Order = "SlicedDuet"
)

// Strictness is how binding a placement rule is.
// +kubebuilder:validation:Enum=Required;Preferred
type Strictness string

const (
	// Required refuses the run, fails its trials or voids a cell that breaks the rule.
	Required Strictness = "Required"
	// Preferred measures all the same: the report marks processes without CPUs of their own, and names the nodes.
	Preferred Strictness = "Preferred"
)

// Implementation is one program that serves HTTP requests on a port, or that measures itself.
// +kubebuilder:validation:XValidation:rule="has(self.image) || has(self.command)",message="an implementation needs an image, or a command for a run on one machine"
type Implementation struct {
	// name identifies the implementation in the run, its trials and its report. It is a DNS label of at most 20 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="an implementation's name must be lower-case letters, digits and '-', and begin and end with a letter or digit"
	Name string `json:"name,omitempty"`

	// image is the container image of the server or program. Required on a cluster. A run on one machine starts what has no command in its image;
	// there it may also be the path of an archive or of the folder of an OCI layout, beginning with / or ./, which is used beside a command, too.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// command is the argument vector that starts the server or the program. No shell is involved. Defaults to the entrypoint of the image; at most 64
	// arguments. Required with microbenchmark. A run on one machine looks the program up in PATH, or relative to the folder of the run's file,
	// unless it runs in its image.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=1024
	Command []string `json:"command,omitempty"`

	ContainerSettings `json:",inline"`

	// dependencies are containers that the server needs beside it, such as a database, in the order in which they start; at most 4. They are new for
	// every trial.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	Dependencies []Dependency `json:"dependencies,omitempty"`

	// readiness is when the server counts as started. If absent, it has started when it listens, for which it has 30 seconds.
	// +optional
	Readiness Readiness `json:"readiness,omitzero"`

	// stopSignal is the signal that tells the server to end where Loadstone ends it, under a profiler and on
	// one machine. Elsewhere the container runtime sends the one that the image names. Defaults to SIGTERM.
	// +optional
	StopSignal StopSignal `json:"stopSignal,omitempty"`

	// port is the TCP port on which the server listens for HTTP requests. Required with loads.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// tls says that the server speaks HTTPS on its port, and how its certificate is verified. If absent, it speaks plain HTTP.
	// +optional
	TLS TLS `json:"tls,omitzero"`

	// cpus is the number of whole CPUs that the server or the program owns exclusively. Defaults to 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	CPUs int32 `json:"cpus,omitempty"`

	// memory is the memory request and limit of the server. Defaults to 256Mi; at least 4Mi.
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`

	// role is Contender, which is compared with the baseline, or Reference, which shows the practical limit of the hardware and takes no
	// part in verdicts. Defaults to Contender.
	// +optional
	Role Role `json:"role,omitempty"`

	// build is what is expected of the way in which the server was built. If absent, nothing is expected.
	// +optional
	Build Build `json:"build,omitzero"`

	// claims are statements about the implementation that are checked and reported, and fail nothing; at most 32.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Claims []Claim `json:"claims,omitempty"`
}

// Placement restricts the CPUs and nodes of a run.
// +kubebuilder:validation:MinProperties=1
type Placement struct {
	// pinning requires exclusive CPUs for servers and generators. It is read back from the processes in every cell; with Required, a cell
	// without exclusive CPUs is void. Defaults to Required.
	// +optional
	Pinning Strictness `json:"pinning,omitempty"`

	// generatorPinning requires exclusive CPUs for the generators alone. With Preferred, generators share the CPUs of their node, and
	// their latencies include the time they wait for one another. Defaults to pinning.
	// +optional
	GeneratorPinning Strictness `json:"generatorPinning,omitempty"`

	// separateNodes requires different nodes for servers and generators. Defaults to Preferred.
	// +optional
	SeparateNodes Strictness `json:"separateNodes,omitempty"`
}

// Validity tightens the limits above which a cell is void. Each limit is a share of 1, a decimal such as "0.0005". No limit can be
// loosened.
// +kubebuilder:validation:MinProperties=1
type Validity struct {
	// maxErrorRate is the maximum share of failed requests. A cell above it is void. Default and upper bound: 0.001.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:XValidation:rule="self.matches('^0([.][0-9]+)?$') && double(self) <= 0.001",message="validity.maxErrorRate must be a decimal from 0 to 0.001, such as \"0.0005\": limits can be tightened and not loosened"
	MaxErrorRate string `json:"maxErrorRate,omitempty"`

	// maxNeighbourCPU is the maximum share of the server's CPU time that other processes use. A cell above it is void. Default and upper
	// bound: 0.15.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:XValidation:rule="self.matches('^0([.][0-9]+)?$') && double(self) <= 0.15",message="validity.maxNeighbourCPU must be a decimal from 0 to 0.15, such as \"0.1\": limits can be tightened and not loosened"
	MaxNeighbourCPU string `json:"maxNeighbourCPU,omitempty"`

	// maxSteal is the maximum share of the server's CPU time that the hypervisor takes. A cell above it is void. Default and upper bound:
	// 0.05.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:XValidation:rule="self.matches('^0([.][0-9]+)?$') && double(self) <= 0.05",message="validity.maxSteal must be a decimal from 0 to 0.05, such as \"0.02\": limits can be tightened and not loosened"
	MaxSteal string `json:"maxSteal,omitempty"`
}

// Artifacts is the place of a run's artifacts in the object store.
// +kubebuilder:validation:MinProperties=1
type Artifacts struct {
	// prefix precedes the keys of all objects of the run. Defaults to no prefix.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_-]+([/.][A-Za-z0-9_-]+)*$')",message="prefix must be path elements of letters, digits, '_', '-' and single dots, separated by '/', without a slash at either end"
	Prefix string `json:"prefix,omitempty"`
}

// The first rule of the spec names every field but suspend, since CEL cannot leave one out of an object. It compares the order of lists explicitly,
// since lists with keys are equal in any order.

// BenchmarkRunSpec is the benchmark that a user asks for. Only suspend can be changed: a different question is a new run.
// +kubebuilder:validation:XValidation:rule="self.implementations == oldSelf.implementations && self.implementations.map(i, i.name) == oldSelf.implementations.map(i, i.name) && has(self.baseline) == has(oldSelf.baseline) && (!has(self.baseline) || self.baseline == oldSelf.baseline) && has(self.loads) == has(oldSelf.loads) && (!has(self.loads) || self.loads == oldSelf.loads && self.loads.map(l, l.name) == oldSelf.loads.map(l, l.name)) && has(self.microbenchmark) == has(oldSelf.microbenchmark) && (!has(self.microbenchmark) || self.microbenchmark == oldSelf.microbenchmark) && has(self.profiles) == has(oldSelf.profiles) && (!has(self.profiles) || self.profiles == oldSelf.profiles) && has(self.blocks) == has(oldSelf.blocks) && (!has(self.blocks) || self.blocks == oldSelf.blocks) && has(self.stop) == has(oldSelf.stop) && (!has(self.stop) || self.stop == oldSelf.stop) && has(self.latencyPercentiles) == has(oldSelf.latencyPercentiles) && (!has(self.latencyPercentiles) || self.latencyPercentiles == oldSelf.latencyPercentiles) && has(self.order) == has(oldSelf.order) && (!has(self.order) || self.order == oldSelf.order) && has(self.seed) == has(oldSelf.seed) && (!has(self.seed) || self.seed == oldSelf.seed) && has(self.objectives) == has(oldSelf.objectives) && (!has(self.objectives) || self.objectives == oldSelf.objectives) && has(self.placement) == has(oldSelf.placement) && (!has(self.placement) || self.placement == oldSelf.placement) && has(self.validity) == has(oldSelf.validity) && (!has(self.validity) || self.validity == oldSelf.validity) && has(self.artifacts) == has(oldSelf.artifacts) && (!has(self.artifacts) || self.artifacts == oldSelf.artifacts) && has(self.timeoutSeconds) == has(oldSelf.timeoutSeconds) && (!has(self.timeoutSeconds) || self.timeoutSeconds == oldSelf.timeoutSeconds) && has(self.patienceSeconds) == has(oldSelf.patienceSeconds) && (!has(self.patienceSeconds) || self.patienceSeconds == oldSelf.patienceSeconds) && has(self.ttlSecondsAfterFinished) == has(oldSelf.ttlSecondsAfterFinished) && (!has(self.ttlSecondsAfterFinished) || self.ttlSecondsAfterFinished == oldSelf.ttlSecondsAfterFinished)",message="only suspend can change in the spec of a BenchmarkRun, since its trials would no longer answer one question: delete it or create a run of another name"
// +kubebuilder:validation:XValidation:rule="self.implementations.size() == 1 || has(self.baseline)",message="baseline must name the implementation that the others are compared with"
// +kubebuilder:validation:XValidation:rule="!has(self.baseline) || self.implementations.exists(i, i.name == self.baseline)",message="baseline must be the name of one of the implementations"
// +kubebuilder:validation:XValidation:rule="!has(self.baseline) || self.implementations.all(i, i.name != self.baseline || !has(i.role) || i.role == 'Contender')",message="baseline must be a Contender: an implementation of role Reference takes no part in verdicts"
// +kubebuilder:validation:XValidation:rule="!has(self.order) || self.order != 'SlicedDuet' || self.implementations.size() == 2",message="order SlicedDuet compares two implementations: make a run for each pair"
// +kubebuilder:validation:XValidation:rule="!has(self.profiles) || has(self.loads)",message="profiles send the request of a load: give loads"
// +kubebuilder:validation:XValidation:rule="has(self.loads) != has(self.microbenchmark)",message="give either loads, which are put on servers, or microbenchmark, for programs that measure themselves"
type BenchmarkRunSpec struct {
	// implementations are the servers, or the programs, to compare. Each is measured once per block, in a fresh process.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Implementations []Implementation `json:"implementations,omitempty"`

	// baseline is the name of the implementation that the others are compared with. Required with more than one implementation.
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

	// microbenchmark compares programs that measure themselves, in the place of loads.
	// +optional
	Microbenchmark Microbenchmark `json:"microbenchmark,omitzero"`

	// profiles run the implementations under profilers when all blocks have been measured. They take part in no verdict.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Profiles []Profile `json:"profiles,omitempty"`

	// blocks is the number of times that every implementation is measured. Fewer than 7 give ratios and no verdict. Defaults to 10.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Blocks int32 `json:"blocks,omitempty"`

	// stop ends the run before its last block when its intervals are narrow enough. If absent, all blocks are measured.
	// +optional
	Stop Stop `json:"stop,omitzero"`

	// latencyPercentiles are the latency percentiles that are compared with the baseline: 50, 90, 95, 99 or 99.9. Defaults to 50 and 99.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=5
	// +kubebuilder:validation:items:Enum="50";"90";"95";"99";"99.9"
	LatencyPercentiles []string `json:"latencyPercentiles,omitempty"`

	// order is the schedule of the trials. SlicedDuet runs two servers of one CPU each on the same CPU and switches the load of wrk
	// between them every 100 ms: it detects smaller differences, and measures no latencies. Defaults to Blocks.
	// +optional
	Order Order `json:"order,omitempty"`

	// seed determines the order of the implementations within each block. Two runs of one spec and one seed measure in the same order.
	// Defaults to a seed from the UID of the run, which the report prints; at most 53 bits, which every JSON reader preserves.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9007199254740991
	Seed int64 `json:"seed,omitempty"`

	// objectives are bounds that measured values must meet. With objectives, a run succeeds only if every one is met. At most 64.
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

	// artifacts is the place of the run's artifacts in the object store.
	// +optional
	Artifacts Artifacts `json:"artifacts,omitzero"`

	// timeoutSeconds is the maximum duration of the run from the start of its turn, without the time in which nobody could lead it
	// (status.absence). Defaults to three times the planned duration plus ten minutes.
	// +optional
	// +kubebuilder:validation:Minimum=30
	// +kubebuilder:validation:Maximum=604800
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"`

	// patienceSeconds is how long the run waits for what may come back: an image whose registry does not answer or that is long in coming,
	// nodes with room, a node that cannot start a container, an admission webhook or a policy that denies a pod, and a store that refuses its
	// key, its bucket or more data. What the spec has wrong is refused at once. Defaults to 600.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	PatienceSeconds int32 `json:"patienceSeconds,omitempty"`

	// ttlSecondsAfterFinished is how long the run's trials and workflows stay in the cluster after its end. The run itself and what is in
	// the object store stay. Defaults to 86400, a day.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=31536000
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// suspend is true while the run may not begin: others take their turns before it, and none of its time passes. It can be changed at any time, and
	// has no effect once the run has begun. Defaults to false.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`
}

// BenchmarkRun compares implementations under load: which is better, at what load, by how much, and how certain is the answer?
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
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 28",message="the name of a BenchmarkRun may have at most 28 characters, since the names of its trials and pods are made from it"
// +kubebuilder:validation:XValidation:rule="!self.metadata.name.contains('.')",message="the name of a BenchmarkRun may not hold dots, since the names of its trials and pods are made from it"
type BenchmarkRun struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the benchmark that the user asks for.
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

// Stop ends a run before its last block when its intervals are narrow enough. Interim analyses after 10, 20 and 30 blocks check the width
// of the intervals and never their direction: a run that ended at the first significant difference would report differences by chance too
// often.
type Stop struct {
	// maxWidth ends the run when the deciding interval of every comparison is at most this wide, as a share of the ratio, such as "0.05".
	// Single levels, other metrics and searches do not matter. A verdict of such a run needs a smaller p-value, since the interim analyses share the allowed error.
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

// Verification is what is done with the certificate of a server.
// +kubebuilder:validation:Enum=Authority;None
type Verification string

const (
	// VerifyAuthority verifies that an authority has signed it, that its time is not over, and that it is for the server's name.
	VerifyAuthority Verification = "Authority"
	// VerifyNone verifies nothing.
	VerifyNone Verification = "None"
)

// TLS says that a server speaks HTTPS on its port, and what its certificate is held against. Everything that is asked of the server is asked over
// TLS then: by the loads, which stay with HTTP/1.1 unless they ask for HTTP/2, by the check before each trial, by readiness, by claims and by profiles. The
// server's own certificate and key are its own business: files brings them from a Secret.
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:XValidation:rule="has(self.ca) != (has(self.verify) && self.verify == 'None')",message="tls has either a ca, by which the server's certificate is verified, or verify: None"
// +kubebuilder:validation:XValidation:rule="has(self.ca) || !has(self.serverName)",message="tls.serverName is the name for which the certificate is verified by ca: give ca, or remove serverName"
type TLS struct {
	// verify is what Loadstone's own check does with the server's certificate before each trial measures: Authority verifies it by ca, None verifies
	// nothing. The load generators verify nothing in either case. Defaults to Authority where there is a ca.
	// +optional
	Verify Verification `json:"verify,omitempty"`

	// ca are the certificates of the authorities that may have signed the server's, in PEM, or the server's own certificate: public text, which is
	// recorded. At most 32,768 bytes.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32768
	CA string `json:"ca,omitempty"`

	// serverName is the DNS name or the address that the server's certificate must be for. Nobody sends it: loads reach a server by the address of its
	// pod, and get the certificate that it shows to a client which names no host. If absent, names are not compared.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ServerName string `json:"serverName,omitempty"`
}
