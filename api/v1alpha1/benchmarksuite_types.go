package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Images is what the images of a suite's inputs are.
// +kubebuilder:validation:Enum=Resolve;AsWritten
type Images string

const (
	// ImagesResolve asks the registry which digest is behind each tag. A new digest is a new input, and runs measure that digest.
	ImagesResolve Images = "Resolve"
	// ImagesAsWritten asks no registry: an image changes only with its name.
	ImagesAsWritten Images = "AsWritten"
)

// Concurrency is what happens to a trigger that comes while a round is in progress.
// +kubebuilder:validation:Enum=Queue;Replace;Skip
type Concurrency string

const (
	// ConcurrencyQueue lets the round end first. Of several changes meanwhile the newest is measured, and of several scheduled times one.
	ConcurrencyQueue Concurrency = "Queue"
	// ConcurrencyReplace deletes what the round has not yet measured, and begins the next; that of a pull request waits for one of the suite's own.
	ConcurrencyReplace Concurrency = "Replace"
	// ConcurrencySkip drops scheduled times and requests. A change is never dropped: it waits for the end of the round.
	ConcurrencySkip Concurrency = "Skip"
)

// OnInconclusive is what an inconclusive round means for the suite.
// +kubebuilder:validation:Enum=Fail;Pass
type OnInconclusive string

const (
	// InconclusiveFails makes the suite not ready.
	InconclusiveFails OnInconclusive = "Fail"
	// InconclusivePasses makes the suite ready. The round is not the last good one all the same.
	InconclusivePasses OnInconclusive = "Pass"
)

// Parameter is a text that stands for itself in several places of a suite.
type Parameter struct {
	// name is the parameter's. $(name) stands for its value in the fields image, command, args and env of the templates, and nowhere else.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="a parameter's name must be lower-case letters, digits and '-', begin with a letter and end with a letter or digit"
	Name string `json:"name,omitempty"`

	// default is the parameter's value where no trigger sets another.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Default string `json:"default,omitempty"`

	// pattern is a regular expression (RE2) that the whole value must match. Defaults to any text without line breaks.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Pattern string `json:"pattern,omitempty"`
}

// SuiteRun is one of the runs of each round.
type SuiteRun struct {
	// name identifies the run in the suite and in its rounds.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a run's name must be lower-case letters, digits and '-', and begin and end with a letter or digit"
	Name string `json:"name,omitempty"`

	// template is what the run is made from.
	// +required
	Template RunTemplate `json:"template,omitzero"`
}

// RunTemplate is what a BenchmarkRun is made from.
type RunTemplate struct {
	// spec is the spec of a BenchmarkRun, in which $(name) stands for parameters. The operator checks it, and not the API server: a tool that
	// replaces what the API server refuses would delete the suite and its rounds because of a typo. What is wrong stands in the condition Stalled.
	// +required
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	// +kubebuilder:validation:Schemaless
	Spec apiextensionsv1.JSON `json:"spec,omitempty,omitzero"`
}

// ChangeTrigger starts a round when the inputs of the suite change: the specs of its runs, with all parameters filled in, and the digest behind
// each of their tags. Inputs that have been measured before are not measured again.
// +kubebuilder:validation:MinProperties=1
type ChangeTrigger struct {
	// images is Resolve, which asks the registry for the digest behind each tag, or AsWritten, which asks nobody. Defaults to Resolve.
	// +optional
	Images Images `json:"images,omitempty"`

	// intervalSeconds is how often the registry is asked. Defaults to 600.
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=604800
	IntervalSeconds int32 `json:"intervalSeconds,omitempty"`
}

// Schedule starts rounds at given times.
type Schedule struct {
	// cron is when: minute, hour, day of the month, month and day of the week, or a word such as @daily.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Cron string `json:"cron,omitempty"`

	// timeZone is the name of the time zone of cron, such as Europe/Berlin. Defaults to UTC.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	TimeZone string `json:"timeZone,omitempty"`

	// startingDeadlineSeconds is how late a round may begin. One that cannot begin until then is left out. Defaults to no deadline.
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=604800
	StartingDeadlineSeconds int32 `json:"startingDeadlineSeconds,omitempty"`
}

// PickedParameter is a parameter whose value a request to the webhook gives.
type PickedParameter struct {
	// name is the name of one of the suite's parameters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// value is a CEL expression that picks the parameter's value, a text, from the request: body is its body, read as JSON. The functions of CEL and
	// of its extension for strings are there, such as has(body.sha) ? body.sha : "main";
	// but for those that can make a text of any length (format, join, replace, strings.quote).
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Value string `json:"value,omitempty"`
}

// WebhookTrigger starts a round for a signed HTTP request, if the installation has the webhook.
type WebhookTrigger struct {
	// secretRef names the key of a Secret in the suite's namespace that holds the key by which requests are signed.
	// The same Secret may hold under token what those show who cannot sign, and ask again and again what their request has come to.
	// +required
	SecretRef KeyReference `json:"secretRef,omitzero"`

	// parameters are those whose values a request gives; at most 8. All others have their defaults.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Parameters []PickedParameter `json:"parameters,omitempty"`
}

// Triggers are what starts rounds. By hand, the annotation loadstone.dev/requestedAt or reconcile.fluxcd.io/requestedAt starts one whenever its
// value changes.
// +kubebuilder:validation:MinProperties=1
type Triggers struct {
	// change starts a round when the inputs change. If absent, changes wait for another trigger, and no registry is asked.
	// +optional
	Change ChangeTrigger `json:"change,omitzero"`

	// schedules start rounds at given times, whatever has been measured before; at most 8.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Schedules []Schedule `json:"schedules,omitempty"`

	// webhook starts a round for each request that is signed with a key of yours, and fills parameters from it. If absent, no request does.
	// +optional
	Webhook WebhookTrigger `json:"webhook,omitzero"`
}

// ChangePointGate is which change points make a suite not ready. One is found from three rounds with the new values on, and most need more.
type ChangePointGate struct {
	// withinRounds is how many of the newest rounds of a value count. One that became worse within them, and has stayed so, makes the suite not
	// ready; one that became worse before them does not any more.
	// +required
	// +kubebuilder:validation:Minimum=3
	// +kubebuilder:validation:Maximum=100
	WithinRounds int32 `json:"withinRounds,omitempty"`
}

// Gate is what makes a suite ready. A round in which a run misses an objective or fails always makes it not ready.
// +kubebuilder:validation:MinProperties=1
type Gate struct {
	// onInconclusive is what a round means that is inconclusive: an objective is undecided; without objectives, a comparison has no verdict; or
	// nothing that was measured counts. It is also what it means that changePoints cannot be known. Defaults to Fail.
	// +optional
	OnInconclusive OnInconclusive `json:"onInconclusive,omitempty"`

	// changePoints makes a suite not ready also if a value has become worse over its rounds, as loadstone suite history shows it. The reports of the
	// rounds are read once when a round has ended. If absent, none is read.
	// +optional
	ChangePoints ChangePointGate `json:"changePoints,omitzero"`
}

// History is how many rounds stay in the cluster, and for how long. Others are deleted with their runs; what is in the object store stays. The last good
// round stays in any case, and the one that the suite is judged by.
// +kubebuilder:validation:MinProperties=1
type History struct {
	// passed is the number of passed rounds that stay. The last good one stays in any case. Defaults to 10.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=500
	Passed *int32 `json:"passed,omitempty"`

	// failed is the number of other rounds that stay. Defaults to 10.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=500
	Failed *int32 `json:"failed,omitempty"`

	// maxAgeDays is for how many days a round stays after its end, passed or not. If absent, its age is no matter.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3650
	MaxAgeDays int32 `json:"maxAgeDays,omitempty"`
}

// BenchmarkSuiteSpec is what a suite measures, and when.
type BenchmarkSuiteSpec struct {
	// suspend is true while nothing new may start. What has begun goes on.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`

	// parameters are texts that the templates name, and the only thing that a trigger may set; at most 32.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Parameters []Parameter `json:"parameters,omitempty"`

	// runs are what a round measures: each becomes a BenchmarkRun, in this order. At most 16.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Runs []SuiteRun `json:"runs,omitempty"`

	// triggers are what starts rounds. If absent, only a request by hand does.
	// +optional
	Triggers Triggers `json:"triggers,omitzero"`

	// concurrency is what happens to a trigger that comes while a round is in progress. Defaults to Queue.
	// +optional
	Concurrency Concurrency `json:"concurrency,omitempty"`

	// gate is what makes the suite ready.
	// +optional
	Gate Gate `json:"gate,omitzero"`

	// history is how many rounds stay in the cluster, and for how long.
	// +optional
	History History `json:"history,omitzero"`

	// notifications are told how each round has ended: by a CloudEvent over HTTP, or by the status of a commit; at most 4.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	Notifications []Notification `json:"notifications,omitempty"`
}

// BenchmarkSuite is a set of benchmarks that lies in Git beside the manifests of what it measures: each change, scheduled time or request starts
// a round of it, and the outcome of the last round makes it ready or not.
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
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63 && !self.metadata.name.contains('.')",message="the name of a BenchmarkSuite may have at most 63 characters and no dots, since it is a label of its runs"
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
