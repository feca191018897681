package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Images is how the images of a suite are resolved.
// +kubebuilder:validation:Enum=Resolve;AsWritten
type Images string

const (
	// ImagesResolve asks the registry for the digest of each tag. A new digest starts a round, and runs measure that digest.
	ImagesResolve Images = "Resolve"
	// ImagesAsWritten does not contact a registry. Only a new image name is a change.
	ImagesAsWritten Images = "AsWritten"
)

// Concurrency is what a trigger does while a round is in progress.
// +kubebuilder:validation:Enum=Queue;Replace;Skip
type Concurrency string

const (
	// ConcurrencyQueue waits for the end of the round. Of several changes only the newest is measured; several scheduled times start one
	// round.
	ConcurrencyQueue Concurrency = "Queue"
	// ConcurrencyReplace deletes the unmeasured rest of the round and starts the next. A pull request's round never replaces one of the suite
	// itself; it waits.
	ConcurrencyReplace Concurrency = "Replace"
	// ConcurrencySkip drops scheduled times and requests. Changes are never dropped: they wait for the end of the round.
	ConcurrencySkip Concurrency = "Skip"
)

// OnInconclusive is how an inconclusive round affects Ready.
// +kubebuilder:validation:Enum=Fail;Pass
type OnInconclusive string

const (
	// InconclusiveFails sets Ready to False.
	InconclusiveFails OnInconclusive = "Fail"
	// InconclusivePasses sets Ready to True. The round still does not count as good.
	InconclusivePasses OnInconclusive = "Pass"
)

// Parameter is a text that can be used in several places of a suite.
type Parameter struct {
	// name is the name of the parameter. Write $(name) in image, command, args and env of the templates; other fields do not support it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="a parameter's name: use lower-case letters, digits and '-'; start with a letter, and end with a letter or digit"
	Name string `json:"name,omitempty"`

	// default is the value if the trigger sets none.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Default string `json:"default,omitempty"`

	// pattern is a regular expression (RE2) that the whole value must match. Default: any text without line breaks.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Pattern string `json:"pattern,omitempty"`
}

// SuiteRun is one run of each round.
type SuiteRun struct {
	// name identifies the run in the suite and its rounds.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a run's name: use lower-case letters, digits and '-'; start and end with a letter or digit"
	Name string `json:"name,omitempty"`

	// template describes the BenchmarkRun.
	// +required
	Template RunTemplate `json:"template,omitzero"`
}

// RunTemplate describes a BenchmarkRun.
type RunTemplate struct {
	// spec is the spec of a BenchmarkRun, with $(name) for parameters. The operator validates it, not the API server, and reports errors in
	// the condition Stalled. Otherwise a GitOps tool that recreates refused objects would delete the suite and its rounds after a typo.
	// +required
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	// +kubebuilder:validation:Schemaless
	Spec apiextensionsv1.JSON `json:"spec,omitempty,omitzero"`
}

// ChangeTrigger starts a round when the inputs of the suite change: the run specs with parameters filled in, or the digest of an image tag.
// Inputs that were already measured start no round.
// +kubebuilder:validation:MinProperties=1
type ChangeTrigger struct {
	// images is Resolve (ask the registry for the digest of each tag) or AsWritten (do not contact a registry). Default: Resolve.
	// +optional
	Images Images `json:"images,omitempty"`

	// intervalSeconds is how often the registry is asked, in seconds. Default: 600.
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=604800
	IntervalSeconds int32 `json:"intervalSeconds,omitempty"`
}

// Schedule starts rounds at given times.
type Schedule struct {
	// cron is the schedule: minute, hour, day of month, month and day of week, or a word such as @daily.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Cron string `json:"cron,omitempty"`

	// timeZone is the time zone of cron, such as Europe/Berlin. Default: UTC.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	TimeZone string `json:"timeZone,omitempty"`

	// startingDeadlineSeconds is how late a round may start, in seconds. Later, the scheduled time is skipped. Default: no deadline.
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=604800
	StartingDeadlineSeconds int32 `json:"startingDeadlineSeconds,omitempty"`
}

// PickedParameter sets a parameter from a webhook request.
type PickedParameter struct {
	// name is the name of one of the suite's parameters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// value is a CEL expression that returns the value as a string. Variable body is the request body, parsed as JSON: has(body.sha) ?
	// body.sha : "main". The CEL standard functions and the strings extension are available, except format, join, replace and strings.quote,
	// which could create texts of any length.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Value string `json:"value,omitempty"`
}

// WebhookTrigger starts a round for a signed HTTP request. The webhook must be enabled in the installation.
type WebhookTrigger struct {
	// secretRef is the key of a Secret in the suite's namespace with the signing key of the requests. The same Secret may contain a bearer
	// token under the key token, for clients that cannot sign and that poll for the result.
	// +required
	SecretRef KeyReference `json:"secretRef,omitzero"`

	// parameters are set from the request; at most 8. All others have their defaults.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Parameters []PickedParameter `json:"parameters,omitempty"`
}

// Triggers start rounds. A new value of the annotation loadstone.dev/requestedAt or reconcile.fluxcd.io/requestedAt always starts one.
// +kubebuilder:validation:MinProperties=1
type Triggers struct {
	// change starts a round when the inputs change. If absent, changes are measured in the next round of another trigger, and no registry is
	// contacted.
	// +optional
	Change ChangeTrigger `json:"change,omitzero"`

	// schedules start rounds at given times, even if the inputs were already measured; at most 8.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Schedules []Schedule `json:"schedules,omitempty"`

	// webhook starts a round for each signed request and can set parameters from it. If absent, webhook requests are refused.
	// +optional
	Webhook WebhookTrigger `json:"webhook,omitzero"`
}

// ChangePointGate is which change points set Ready to False.
type ChangePointGate struct {
	// withinRounds is for how many rounds a lasting regression sets Ready to False, from the round that found it on. Older regressions are
	// ignored.
	// +required
	// +kubebuilder:validation:Minimum=3
	// +kubebuilder:validation:Maximum=100
	WithinRounds int32 `json:"withinRounds,omitempty"`

	// minimumEffect is the smallest change that counts, as a share of the value: "0.05" is 5%. At most "0.5". It applies to all change points
	// of the suite. Default: "0.03".
	// +optional
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=8
	// +kubebuilder:validation:XValidation:rule="self.matches('^0[.][0-9]+$') && double(self) >= 0.001 && double(self) <= 0.5",message="minimumEffect must be a decimal from 0.001 to 0.5, such as \"0.05\""
	MinimumEffect string `json:"minimumEffect,omitempty"`
}

// Gate is how rounds affect Ready. A missed objective or a failed run always sets Ready to False.
// +kubebuilder:validation:MinProperties=1
type Gate struct {
	// onInconclusive is how an inconclusive round affects Ready: an objective is undecided, a comparison has no verdict (without objectives),
	// or no measurement is valid. It also applies if changePoints cannot be determined. Default: Fail.
	// +optional
	OnInconclusive OnInconclusive `json:"onInconclusive,omitempty"`

	// changePoints also sets Ready to False if a value regressed over the rounds, as loadstone suite history shows. The reports are read once
	// per finished round. Default: not checked.
	// +optional
	ChangePoints ChangePointGate `json:"changePoints,omitzero"`
}

// History limits the rounds in the cluster. Older rounds are deleted with their runs; the object store keeps everything. The last good round,
// and the round that decides Ready, are never deleted.
// +kubebuilder:validation:MinProperties=1
type History struct {
	// passed is the number of passed rounds to keep. The last good one is always kept. Default: 10.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=500
	Passed *int32 `json:"passed,omitempty"`

	// failed is the number of other rounds to keep. Default: 10.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=500
	Failed *int32 `json:"failed,omitempty"`

	// maxAgeDays is the maximum age of a round after its end, in days. Default: no age limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3650
	MaxAgeDays int32 `json:"maxAgeDays,omitempty"`
}

// BenchmarkSuiteSpec is what a suite measures, and when.
type BenchmarkSuiteSpec struct {
	// suspend pauses new rounds; running rounds finish. Default: false.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`

	// parameters are texts for the templates. Triggers can set parameters and nothing else. At most 32.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Parameters []Parameter `json:"parameters,omitempty"`

	// runs are the BenchmarkRuns of each round, in this order; at most 16.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Runs []SuiteRun `json:"runs,omitempty"`

	// triggers start rounds. If absent, only a request by hand does.
	// +optional
	Triggers Triggers `json:"triggers,omitzero"`

	// concurrency is what a trigger does while a round is in progress: Queue, Replace or Skip. Default: Queue.
	// +optional
	Concurrency Concurrency `json:"concurrency,omitempty"`

	// gate is how rounds affect the condition Ready.
	// +optional
	Gate Gate `json:"gate,omitzero"`

	// history limits the rounds that are kept in the cluster.
	// +optional
	History History `json:"history,omitzero"`

	// notifications report finished rounds: CloudEvents over HTTP, or commit statuses in GitHub or GitLab; at most 4.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	Notifications []Notification `json:"notifications,omitempty"`
}

// BenchmarkSuite is a set of benchmarks, usually kept in Git next to the manifests of the measured software. A change, a schedule or a request
// starts a round. The result of the last round sets the condition Ready.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=bsuite;bsuites,categories=loadstone
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Measuring",type=string,JSONPath=`.status.current.progress`
// +kubebuilder:printcolumn:name="Last",type=integer,JSONPath=`.status.lastRound.round`
// +kubebuilder:printcolumn:name="Outcome",type=string,JSONPath=`.status.lastRound.outcome`
// +kubebuilder:printcolumn:name="Good",type=integer,JSONPath=`.status.lastGood.round`
// +kubebuilder:printcolumn:name="Next",type=string,JSONPath=`.status.nextScheduleTime`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63 && !self.metadata.name.contains('.')",message="metadata.name of a BenchmarkSuite: at most 63 characters and no dots, because its runs have it as a label"
type BenchmarkSuite struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what the suite measures, and when.
	// +required
	Spec BenchmarkSuiteSpec `json:"spec,omitzero"`

	// status is the observed state of the suite.
	// +optional
	// +default={"observedGeneration":-1}
	Status BenchmarkSuiteStatus `json:"status,omitzero"`
}

// BenchmarkSuiteList is a list of suites.
// +kubebuilder:object:root=true
type BenchmarkSuiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []BenchmarkSuite `json:"items"`
}
