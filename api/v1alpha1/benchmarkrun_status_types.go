package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ReportRef identifies a report in the object store. It contains no credentials and no signed address.
// +kubebuilder:validation:MinProperties=1
type ReportRef struct {
	// uri is the address of the HTML report, in the form s3://BUCKET/KEY.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	URI string `json:"uri,omitempty"`

	// sha256 is the digest of the HTML report, in hexadecimal.
	// +optional
	// +kubebuilder:validation:MinLength=64
	// +kubebuilder:validation:MaxLength=64
	SHA256 string `json:"sha256,omitempty"`

	// manifestSHA256 is the digest of the run's manifest, in hexadecimal, which names all that the report was made from with its digests.
	// +optional
	// +kubebuilder:validation:MinLength=64
	// +kubebuilder:validation:MaxLength=64
	ManifestSHA256 string `json:"manifestSHA256,omitempty"`

	// tries counts the operators that have begun to make the report. A run ends without one if five have ended over it, as for want of memory.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Tries int32 `json:"tries,omitempty"`
}

// FrozenScript is the copy of a load's script that the operator stores when the run starts. The generators run this copy.
type FrozenScript struct {
	// load is the name of the load.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	Load string `json:"load,omitempty"`

	// bytes is the size of the script.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1048576
	Bytes int64 `json:"bytes,omitempty"`

	// sha256 is the digest of the script, in hexadecimal.
	// +required
	// +kubebuilder:validation:MinLength=64
	// +kubebuilder:validation:MaxLength=64
	SHA256 string `json:"sha256,omitempty"`
}

// FrozenBody is the copy of a request's bodyFrom that the operator stores when the run starts. The loads send this copy.
type FrozenBody struct {
	// name is the ConfigMap and its key, with a slash between.
	// +required
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=507
	Name string `json:"name,omitempty"`

	// bytes is the size of the body.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65536
	Bytes int64 `json:"bytes,omitempty"`

	// sha256 is the digest of the body, in hexadecimal.
	// +required
	// +kubebuilder:validation:MinLength=64
	// +kubebuilder:validation:MaxLength=64
	SHA256 string `json:"sha256,omitempty"`
}

// ConfigMapDigest is a ConfigMap that implementations name, as it was when the run started.
type ConfigMapDigest struct {
	// name is the name of the ConfigMap.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// sha256 is the digest of what is read of it, in hexadecimal.
	// +required
	// +kubebuilder:validation:MinLength=64
	// +kubebuilder:validation:MaxLength=64
	SHA256 string `json:"sha256,omitempty"`
}

// InterimStatus is the outcome of the last interim analysis.
// +kubebuilder:validation:MinProperties=1
type InterimStatus struct {
	// analysedBlocks is the number of blocks in the last interim analysis.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	AnalysedBlocks int32 `json:"analysedBlocks,omitempty"`

	// stoppedAfterBlock is the block after which the run ended, since its intervals were narrow enough. Absent if the run goes on.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	StoppedAfterBlock int32 `json:"stoppedAfterBlock,omitempty"`
}

// AbsenceStatus is a time in which nobody could lead a run.
// +kubebuilder:validation:MinProperties=1
type AbsenceStatus struct {
	// seconds are its sum.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Seconds int32 `json:"seconds,omitempty"`

	// until is when the last of it ended.
	// +optional
	Until *metav1.Time `json:"until,omitempty"`
}

// RepeatStatus is the outcome of the last scan for disturbed blocks.
// +kubebuilder:validation:MinProperties=1
type RepeatStatus struct {
	// scannedBlocks is the number of measured blocks at the last scan, repeat blocks included. At most 200: the 100 blocks of a spec and
	// as many repeat blocks.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=200
	ScannedBlocks int32 `json:"scannedBlocks,omitempty"`

	// disturbedBlocks are the blocks with at least one cell that an external disturbance voided. They are repeated while repeat blocks
	// remain.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	DisturbedBlocks []int32 `json:"disturbedBlocks,omitempty"`
}

// BenchmarkRunStatus is the observed state of a run. The record of a run is its manifest in the object store.
// +kubebuilder:validation:MinProperties=1
type BenchmarkRunStatus struct {
	// conditions are Planned, Executed, Reported, Conclusive, the summary Succeeded, and Reconciling and Stalled as kstatus defines them.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// waitingSince is since when the run has been waiting for something of the cluster that is away, such as the store, or has been suspended; the
	// condition Succeeded has the reason. Absent while it waits for nothing.
	// +optional
	WaitingSince *metav1.Time `json:"waitingSince,omitempty"`

	// observedGeneration is the generation of the spec that this status describes. Defaults to -1, which no generation has.
	// +optional
	// +default=-1
	ObservedGeneration *int64 `json:"observedGeneration,omitempty"`

	// planHash is the digest of the compiled plan.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	PlanHash string `json:"planHash,omitempty"`

	// progress is the number of measured cells and of planned cells, such as "12/40". It is updated every half minute.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Progress string `json:"progress,omitempty"`

	// timeLeft is the estimated remaining duration of the run at the end of the last cell, such as "3m20s".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	TimeLeft string `json:"timeLeft,omitempty"`

	// startTime is when the turn of the run began.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when the run ended, successfully or not.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// absence is the time since startTime in which nobody could lead the run: no operator, no API server or no Argo was there.
	// spec.timeoutSeconds does not count it.
	// +optional
	Absence AbsenceStatus `json:"absence,omitzero"`

	// scripts are the users' scripts as of the start of the run. Later changes of their ConfigMaps affect no load.
	// +optional
	// +listType=map
	// +listMapKey=load
	// +kubebuilder:validation:MaxItems=8
	Scripts []FrozenScript `json:"scripts,omitempty"`

	// bodies are the bodies that requests name, as of the start of the run. Later changes of their ConfigMaps affect no load.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=96
	Bodies []FrozenBody `json:"bodies,omitempty"`

	// configMaps are the ConfigMaps that implementations name, as of the start of the run. It ends when one of them changes.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=128
	ConfigMaps []ConfigMapDigest `json:"configMaps,omitempty"`

	// interim is the outcome of the last interim analysis (spec.stop).
	// +optional
	Interim InterimStatus `json:"interim,omitzero"`

	// repeats is the outcome of the last scan for disturbed blocks, which are repeated.
	// +optional
	Repeats RepeatStatus `json:"repeats,omitzero"`

	// verdict is the outcome of the run in a few words.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Verdict string `json:"verdict,omitempty"`

	// shortVerdict is the verdict in a word or two, such as "better: +12.5 %". kubectl get shows it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=18
	ShortVerdict string `json:"shortVerdict,omitempty"`

	// report identifies the report in the object store.
	// +optional
	Report ReportRef `json:"report,omitzero"`
}
