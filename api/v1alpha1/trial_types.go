package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Start is whether a prepared trial may put load on its server.
// +kubebuilder:validation:Enum=Held;Released
type Start string

const (
	// StartHeld keeps a prepared trial from measuring.
	StartHeld Start = "Held"
	// StartReleased lets a prepared trial measure. The trial's workflow step sets it.
	StartReleased Start = "Released"
)

// TrialSpec points to one trial of a run's plan. Everything else is in the plan, which the operator compiles from the immutable spec of the
// run.
// +kubebuilder:validation:XValidation:rule="self.runName == oldSelf.runName && self.index == oldSelf.index && has(self.block) == has(oldSelf.block) && (!has(self.block) || self.block == oldSelf.block)",message="only start can change in the spec of a Trial: the plan comes from its BenchmarkRun"
type TrialSpec struct {
	// runName is the name of the BenchmarkRun in the same namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	RunName string `json:"runName,omitempty"`

	// index is the position of the trial in the plan, from 0.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	Index *int32 `json:"index,omitempty"`

	// block is the block of the trial, from 1; at most 200 (100 blocks of a spec, and as many repeat blocks after them). Absent for profiles,
	// which follow all blocks.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=200
	Block int32 `json:"block,omitempty"`

	// start is Held until the trial's workflow step releases it.
	// +required
	Start Start `json:"start,omitempty"`
}

// MemberNode is the node of one pod of a trial.
type MemberNode struct {
	// member is the name of the pod in the trial, such as "server-0" or "generator-0".
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Member string `json:"member,omitempty"`

	// node is the name of the node.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`
}

// TrialStatus is the observed state of a trial. The permanent record is the manifest in the object store.
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
	// waited too long are recreated under the next number, without a failure.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=999
	Attempt int32 `json:"attempt,omitempty"`

	// failures are the reasons of failed attempts, oldest first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:MaxLength=1024
	Failures []string `json:"failures,omitempty"`

	// attemptTime is when the current attempt began.
	// +optional
	AttemptTime *metav1.Time `json:"attemptTime,omitempty"`

	// suspectSince is when a failure was first seen that ends the attempt if it lasts some seconds, such as an unresponsive agent. Absent
	// otherwise.
	// +optional
	SuspectSince *metav1.MicroTime `json:"suspectSince,omitempty"`

	// startTime is when the agents start the first cell.
	// +optional
	StartTime *metav1.MicroTime `json:"startTime,omitempty"`

	// filesSHA256 is the digest of the list of files that the agents announced in the current attempt, in hexadecimal. Other files are refused.
	// +optional
	// +kubebuilder:validation:MinLength=64
	// +kubebuilder:validation:MaxLength=64
	FilesSHA256 string `json:"filesSHA256,omitempty"`

	// nodes are the nodes of the pods whose agents were started. All later trials of the run use the nodes of the first stored trial, so the
	// whole run is measured on the same machines.
	// +optional
	// +listType=map
	// +listMapKey=member
	// +kubebuilder:validation:MaxItems=18
	Nodes []MemberNode `json:"nodes,omitempty"`

	// completionTime is when the trial ended, successfully or not.
	// +optional
	CompletionTime *metav1.MicroTime `json:"completionTime,omitempty"`

	// progress is the number of measured cells and of planned cells, such as "2/4". It is updated every 30 seconds.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Progress string `json:"progress,omitempty"`

	// manifestKey is the object-store key of the trial's manifest.
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

// Trial is one fresh process of one implementation (or the two servers of a duet) through the whole work of a block. The operator creates it
// from the plan of a run.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=lstrial;lstrials,categories=loadstone
// +kubebuilder:printcolumn:name="Block",type=integer,JSONPath=`.spec.block`
// +kubebuilder:printcolumn:name="Implementation",type=string,JSONPath=`.metadata.labels.loadstone\.dev/implementation`
// +kubebuilder:printcolumn:name="Peer",type=string,priority=1,JSONPath=`.metadata.labels.loadstone\.dev/peer`
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

	// spec points to one trial of the run's plan.
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
