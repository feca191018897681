package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Start is the permission of a prepared trial to put load on its server.
// +kubebuilder:validation:Enum=Held;Released
type Start string

const (
	// StartHeld forbids a prepared trial to measure.
	StartHeld Start = "Held"
	// StartReleased permits a prepared trial to measure. The trial's step of the workflow sets it.
	StartReleased Start = "Released"
)

// Cell is one level of one load, measured once in the trial.
// +kubebuilder:validation:XValidation:rule="has(self.request) != has(self.requests)",message="a cell has either request or requests"
type Cell struct {
	// load is the name of the load.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	Load string `json:"load,omitempty"`

	// tool is the load generator.
	// +required
	Tool Tool `json:"tool,omitempty"`

	// connections is the number of open connections over all generators.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=400000
	Connections int32 `json:"connections,omitempty"`

	// streamsPerConnection is the number of requests in flight on each connection. Absent if it is 1.
	// +optional
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=100
	StreamsPerConnection int32 `json:"streamsPerConnection,omitempty"`

	// requestsPerSecond is the arrival rate over all generators. Absent in the closed model.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	RequestsPerSecond int32 `json:"requestsPerSecond,omitempty"`

	// rampToRequestsPerSecond is the arrival rate at the end of the cell. Absent if the rate is constant.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	RampToRequestsPerSecond int32 `json:"rampToRequestsPerSecond,omitempty"`

	// step is the step of a search, from 1. The trial finds its rate while it runs. Absent outside a search.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=32
	Step int32 `json:"step,omitempty"`

	// search is the bound of the search, with every default filled in.
	// +optional
	Search Search `json:"search,omitzero"`

	// generators is the number of generator pods, which share the cell equally.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=16
	Generators int32 `json:"generators,omitempty"`

	// connection is KeepAlive, many requests per connection, or PerRequest, one request per connection.
	// +required
	Connection ConnectionUse `json:"connection,omitempty"`

	// protocol is HTTP2 if the load speaks HTTP/2. Absent of HTTP/1.
	// +optional
	Protocol Protocol `json:"protocol,omitempty"`

	// script is a user's program that makes the requests.
	// +optional
	Script Script `json:"script,omitzero"`

	// threads is the number of the tool's threads in each generator.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=256
	Threads int32 `json:"threads,omitempty"`

	// request is the HTTP request that the load sends, with every default filled in. Absent of a mix.
	// +optional
	Request Request `json:"request,omitzero"`

	// requests are those of a mix, in place of request, with every default filled in.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=2
	// +kubebuilder:validation:MaxItems=12
	Requests []MixedRequest `json:"requests,omitempty"`

	// warmupSeconds is the duration of the load before the measurement.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=600
	WarmupSeconds *int32 `json:"warmupSeconds,omitempty"`

	// durationSeconds is the duration of the measurement.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	DurationSeconds int32 `json:"durationSeconds,omitempty"`

	// order is SlicedDuet if two servers share the time of the cell in slices. Each server then has warmupSeconds and durationSeconds, so
	// that the cell takes twice as long. Absent otherwise.
	// +optional
	Order Order `json:"order,omitempty"`
}

// TrialType is the kind of work of a trial.
// +kubebuilder:validation:Enum=Sweep;Microbenchmark;Profile
type TrialType string

const (
	// TypeSweep puts load on servers, level by level, and measures their responses.
	TypeSweep TrialType = "Sweep"
	// TypeMicrobenchmark runs a program that measures itself, and reads what it prints.
	TypeMicrobenchmark TrialType = "Microbenchmark"
	// TypeProfile runs a server under a profiler.
	TypeProfile TrialType = "Profile"
)

// Sweep puts load on servers, level by level.
type Sweep struct {
	// generators are the pods that make the load, with every default filled in.
	// +required
	Generators Generators `json:"generators,omitzero"`

	// cells are the levels to measure, in this order.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	Cells []Cell `json:"cells,omitempty"`
}

// TrialSpec is one line of a run's plan. The operator writes it; only start changes afterwards.
// +kubebuilder:validation:XValidation:rule="self.runName == oldSelf.runName && self.index == oldSelf.index && has(self.block) == has(oldSelf.block) && (!has(self.block) || self.block == oldSelf.block) && has(self.type) == has(oldSelf.type) && (!has(self.type) || self.type == oldSelf.type) && has(self.servers) == has(oldSelf.servers) && (!has(self.servers) || self.servers == oldSelf.servers) && has(self.sweep) == has(oldSelf.sweep) && (!has(self.sweep) || self.sweep == oldSelf.sweep) && has(self.microbenchmark) == has(oldSelf.microbenchmark) && (!has(self.microbenchmark) || self.microbenchmark == oldSelf.microbenchmark) && has(self.profile) == has(oldSelf.profile) && (!has(self.profile) || self.profile == oldSelf.profile) && self.placement == oldSelf.placement",message="only start can change in the spec of a Trial: its plan is fixed by its BenchmarkRun"
// +kubebuilder:validation:XValidation:rule="!has(self.type) || (self.type == 'Sweep') == has(self.sweep)",message="sweep is required when type is Sweep, and forbidden otherwise"
// +kubebuilder:validation:XValidation:rule="!has(self.type) || (self.type == 'Microbenchmark') == has(self.microbenchmark)",message="microbenchmark is required when type is Microbenchmark, and forbidden otherwise"
// +kubebuilder:validation:XValidation:rule="!has(self.type) || (self.type == 'Profile') == has(self.profile)",message="profile is required when type is Profile, and forbidden otherwise"
// +kubebuilder:validation:XValidation:rule="!has(self.type) || (self.type == 'Profile') != has(self.block)",message="block is required unless type is Profile, and forbidden then"
type TrialSpec struct {
	// runName is the name of the BenchmarkRun, in the same namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	RunName string `json:"runName,omitempty"`

	// index is the position of the trial in the run, from 0.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	Index *int32 `json:"index,omitempty"`

	// block is the block of the trial, from 1. Every implementation is measured once per block. Repeat blocks follow the planned blocks.
	// At most 200: the 100 blocks of a spec and as many repeat blocks. Absent of a profile, which follows all blocks.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=200
	Block int32 `json:"block,omitempty"`

	// type is the kind of work of the trial. The field of the same name describes the work.
	// +required
	// +unionDiscriminator
	Type TrialType `json:"type,omitempty"`

	// servers are the implementations to measure, with every default filled in: one, or the two peers of a duet, which share a CPU and
	// the load.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=2
	Servers []Implementation `json:"servers,omitempty"`

	// sweep puts load on servers, level by level.
	// +optional
	// +unionMember
	Sweep Sweep `json:"sweep,omitzero"`

	// microbenchmark runs a program that measures itself.
	// +optional
	// +unionMember
	Microbenchmark Microbenchmark `json:"microbenchmark,omitzero"`

	// profile runs a server under a profiler.
	// +optional
	// +unionMember
	Profile ProfiledRun `json:"profile,omitzero"`

	// placement restricts the CPUs and nodes of the trial, with every default filled in.
	// +required
	Placement Placement `json:"placement,omitzero"`

	// start is Held until the trial's step of the workflow releases it.
	// +required
	Start Start `json:"start,omitempty"`
}

// MemberNode is the node of one pod of a trial.
type MemberNode struct {
	// member is the name of the trial's member that the pod is, such as "server-0" or "generator-0".
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Member string `json:"member,omitempty"`

	// node is the name of the pod's node.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`
}

// TrialStatus is the observed state of a trial. The record of a trial is its manifest in the object store.
// +kubebuilder:validation:MinProperties=1
type TrialStatus struct {
	// conditions are Prepared, Measured, Stored and the summary Succeeded.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration *int64 `json:"observedGeneration,omitempty"`

	// attempt is the number of the current attempt, from 1. Infrastructure failures are retried; implementation failures are not. Pods that
	// have waited for too long are created again under the next number, without a failure.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=999
	Attempt int32 `json:"attempt,omitempty"`

	// failures are the reasons of earlier failed attempts, oldest first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:MaxLength=1024
	Failures []string `json:"failures,omitempty"`

	// attemptTime is when the current attempt began.
	// +optional
	AttemptTime *metav1.Time `json:"attemptTime,omitempty"`

	// startTime is the instant at which the agents start the first cell.
	// +optional
	StartTime *metav1.MicroTime `json:"startTime,omitempty"`

	// nodes are the nodes of the pods whose agents were told to start. Every later trial of the run is bound to the nodes of the
	// first stored trial, so that the whole run is measured on the same machines.
	// +optional
	// +listType=map
	// +listMapKey=member
	// +kubebuilder:validation:MaxItems=18
	Nodes []MemberNode `json:"nodes,omitempty"`

	// completionTime is when the trial ended, successfully or not.
	// +optional
	CompletionTime *metav1.MicroTime `json:"completionTime,omitempty"`

	// progress is the number of measured cells and of planned cells, such as "2/4". It is updated every half minute.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Progress string `json:"progress,omitempty"`

	// manifestKey is the key of the trial's manifest in the object store.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	ManifestKey string `json:"manifestKey,omitempty"`

	// manifestSHA256 is the digest of the manifest, in hexadecimal.
	// +optional
	// +kubebuilder:validation:MinLength=64
	// +kubebuilder:validation:MaxLength=64
	ManifestSHA256 string `json:"manifestSHA256,omitempty"`
}

// Trial is one fresh process of one implementation, or of the two peers of a duet, through the whole work of a block. The operator creates
// it from the plan of a run.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=lstrial;lstrials,categories=loadstone
// +kubebuilder:printcolumn:name="Block",type=integer,JSONPath=`.spec.block`
// +kubebuilder:printcolumn:name="Type",type=string,priority=1,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Implementation",type=string,JSONPath=`.spec.servers[0].name`
// +kubebuilder:printcolumn:name="Peer",type=string,priority=1,JSONPath=`.spec.servers[1].name`
// +kubebuilder:printcolumn:name="Progress",type=string,JSONPath=`.status.progress`
// +kubebuilder:printcolumn:name="Attempt",type=integer,JSONPath=`.status.attempt`
// +kubebuilder:printcolumn:name="Succeeded",type=string,JSONPath=`.status.conditions[?(@.type=="Succeeded")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Succeeded")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Trial struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is one line of the run's plan.
	// +required
	Spec TrialSpec `json:"spec,omitzero"`

	// status is the observed state of the trial.
	// +optional
	Status TrialStatus `json:"status,omitzero"`
}

// TrialList is a list of trials.
// +kubebuilder:object:root=true
type TrialList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Trial `json:"items"`
}
