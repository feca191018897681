package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ReportRef locates a report in the object store. It contains no credentials and no presigned URL.
// +kubebuilder:validation:MinProperties=1
type ReportRef struct {
	// uri is the address of the HTML report: s3://BUCKET/KEY.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	URI string `json:"uri,omitempty"`

	// sha256 is the digest of the HTML report, in hexadecimal.
	// +optional
	// +kubebuilder:validation:MinLength=64
	// +kubebuilder:validation:MaxLength=64
	SHA256 string `json:"sha256,omitempty"`

	// manifestSHA256 is the digest of the run's manifest, in hexadecimal. The manifest lists every input of the report with its digest.
	// +optional
	// +kubebuilder:validation:MinLength=64
	// +kubebuilder:validation:MaxLength=64
	ManifestSHA256 string `json:"manifestSHA256,omitempty"`

	// tries is the number of processes that started an interim analysis, a scan or the report and did not finish it. After five that
	// died (for example out of memory), the run ends without a report.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Tries int32 `json:"tries,omitempty"`
}

// FrozenScript is the copy of a load's script, stored at the start of the run. The generators run this copy.
type FrozenScript struct {
	// load is the name of the load.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	Load string `json:"load,omitempty"`

	// bytes is the size of the script in bytes.
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

// FrozenBody is the copy of a request body from bodyFrom, stored at the start of the run. The loads send this copy.
type FrozenBody struct {
	// name is the ConfigMap and its key, separated by a slash.
	// +required
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=507
	Name string `json:"name,omitempty"`

	// bytes is the size of the body in bytes.
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

// ConfigMapDigest is a ConfigMap of an implementation, as it was at the start of the run.
type ConfigMapDigest struct {
	// name is the name of the ConfigMap.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// sha256 is the digest of the used entries, in hexadecimal.
	// +required
	// +kubebuilder:validation:MinLength=64
	// +kubebuilder:validation:MaxLength=64
	SHA256 string `json:"sha256,omitempty"`
}

// InterimStatus is the result of the last interim analysis.
// +kubebuilder:validation:MinProperties=1
type InterimStatus struct {
	// analysedBlocks is the number of blocks in the last interim analysis.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	AnalysedBlocks int32 `json:"analysedBlocks,omitempty"`

	// stoppedAfterBlock is the block after which the run ended because its intervals were narrow enough. Absent otherwise.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	StoppedAfterBlock int32 `json:"stoppedAfterBlock,omitempty"`
}

// AbsenceStatus is the time in which the run could not be controlled.
// +kubebuilder:validation:MinProperties=1
type AbsenceStatus struct {
	// seconds is the total time in seconds.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Seconds int32 `json:"seconds,omitempty"`

	// until is when the last outage ended.
	// +optional
	Until *metav1.Time `json:"until,omitempty"`
}

// RepeatStatus is the result of the last scan for disturbed blocks.
// +kubebuilder:validation:MinProperties=1
type RepeatStatus struct {
	// scannedBlocks is the number of measured blocks at the last scan, with repeat blocks; at most 200 (100 blocks of a spec, and as many
	// repeat blocks).
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=200
	ScannedBlocks int32 `json:"scannedBlocks,omitempty"`

	// disturbedBlocks are blocks with a cell that an external disturbance voided. They are repeated while repeat blocks remain.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	DisturbedBlocks []int32 `json:"disturbedBlocks,omitempty"`
}

// BenchmarkRunStatus is the observed state of a run. The permanent record is the manifest in the object store.
// +kubebuilder:validation:MinProperties=1
type BenchmarkRunStatus struct {
	// conditions are Planned, Executed, Reported, Conclusive, the summary Succeeded, and Reconciling and Stalled (as in kstatus).
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// waitingSince is when the run started waiting for an unavailable resource, such as the store, or was suspended. The reason is in the
	// condition Succeeded. Absent while it does not wait.
	// +optional
	WaitingSince *metav1.Time `json:"waitingSince,omitempty"`

	// observedGeneration is the generation of the spec that this status describes. Default: -1, before the first status.
	// +optional
	// +default=-1
	ObservedGeneration *int64 `json:"observedGeneration,omitempty"`

	// downloadKey signs requests for the run's stored files, so that everyone who may get the run can download them.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	DownloadKey string `json:"downloadKey,omitempty"`

	// planHash is the digest of the compiled plan.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	PlanHash string `json:"planHash,omitempty"`

	// progress is the number of measured cells and of planned cells, such as "12/40". It is updated every 30 seconds.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Progress string `json:"progress,omitempty"`

	// timeLeft is the estimated remaining time at the end of the last cell, such as "3m20s".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	TimeLeft string `json:"timeLeft,omitempty"`

	// startTime is when the run's turn began.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when the run ended, successfully or not.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// absence is the time since startTime without an operator, an API server or Argo. spec.timeoutSeconds does not count it.
	// +optional
	Absence AbsenceStatus `json:"absence,omitzero"`

	// scripts are the users' scripts at the start of the run. Later changes of the ConfigMaps have no effect.
	// +optional
	// +listType=map
	// +listMapKey=load
	// +kubebuilder:validation:MaxItems=8
	Scripts []FrozenScript `json:"scripts,omitempty"`

	// bodies are the request bodies at the start of the run. Later changes of the ConfigMaps have no effect.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=96
	Bodies []FrozenBody `json:"bodies,omitempty"`

	// configMaps are the implementations' ConfigMaps at the start of the run. The run ends if one changes.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=128
	ConfigMaps []ConfigMapDigest `json:"configMaps,omitempty"`

	// interim is the result of the last interim analysis (spec.stop).
	// +optional
	Interim InterimStatus `json:"interim,omitzero"`

	// repeats is the result of the last scan for disturbed blocks.
	// +optional
	Repeats RepeatStatus `json:"repeats,omitzero"`

	// verdict is the result of the run in a few words.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Verdict string `json:"verdict,omitempty"`

	// shortVerdict is the verdict in a word or two, such as "better: +12.5 %". kubectl get shows it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=18
	ShortVerdict string `json:"shortVerdict,omitempty"`

	// report locates the report in the object store.
	// +optional
	Report ReportRef `json:"report,omitzero"`
}
