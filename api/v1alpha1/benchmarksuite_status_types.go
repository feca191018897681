package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Trigger is the cause of a round.
// +kubebuilder:validation:Enum=Change;Schedule;Request;Webhook
type Trigger string

const (
	// TriggerChange: the inputs changed.
	TriggerChange Trigger = "Change"
	// TriggerSchedule: a scheduled time came.
	TriggerSchedule Trigger = "Schedule"
	// TriggerRequest: a user requested the round.
	TriggerRequest Trigger = "Request"
	// TriggerWebhook: the webhook received a request.
	TriggerWebhook Trigger = "Webhook"
)

// RoundOutcome is the result of a round.
// +kubebuilder:validation:Enum=Passed;Missed;Inconclusive;Failed;Replaced;Incomplete
type RoundOutcome string

const (
	// RoundPassed: every objective is met; without objectives, every comparison has a verdict.
	RoundPassed RoundOutcome = "Passed"
	// RoundMissed: an objective is missed.
	RoundMissed RoundOutcome = "Missed"
	// RoundInconclusive: no objective is missed, but something is undecided.
	RoundInconclusive RoundOutcome = "Inconclusive"
	// RoundFailed: a run failed.
	RoundFailed RoundOutcome = "Failed"
	// RoundReplaced: a newer round replaced this one.
	RoundReplaced RoundOutcome = "Replaced"
	// RoundIncomplete: a run was deleted.
	RoundIncomplete RoundOutcome = "Incomplete"
)

// ResolvedImage is an image with the digest of its tag.
type ResolvedImage struct {
	// image is the image name in the suite, with parameters filled in.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	Image string `json:"image,omitempty"`

	// digest is the digest of the tag.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Digest string `json:"digest,omitempty"`
}

// ParameterValue is a parameter with its value.
type ParameterValue struct {
	// name is the name of the parameter.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// value is the value of the parameter.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Value string `json:"value,omitempty"`
}

// SuiteInputs is what the next round would measure.
// +kubebuilder:validation:MinProperties=1
type SuiteInputs struct {
	// hash is the digest of all run specs, with parameters filled in and images resolved.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Hash string `json:"hash,omitempty"`

	// images are the images with resolved tags.
	// +optional
	// +listType=map
	// +listMapKey=image
	// +kubebuilder:validation:MaxItems=512
	Images []ResolvedImage `json:"images,omitempty"`

	// parameters are the values of all parameters.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Parameters []ParameterValue `json:"parameters,omitempty"`
}

// CurrentRound is the round in progress.
// +kubebuilder:validation:MinProperties=1
type CurrentRound struct {
	// round is the number of the round, from 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	Round int32 `json:"round,omitempty"`

	// trigger is the cause of the round.
	// +optional
	Trigger Trigger `json:"trigger,omitempty"`

	// parameters are the values from the request. Absent if every parameter has its default.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Parameters []ParameterValue `json:"parameters,omitempty"`

	// webhook is the id of the request (webhook, or by hand with values). Absent for other triggers.
	// +optional
	// +kubebuilder:validation:MinLength=64
	// +kubebuilder:validation:MaxLength=64
	Webhook string `json:"webhook,omitempty"`
	// pullRequest is the number of the measured pull request, from the parameter that notifications name. Such a round is compared with good
	// rounds but does not affect the suite's conditions. Absent for other rounds.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	PullRequest string `json:"pullRequest,omitempty"`

	// run is the name of the current or next BenchmarkRun.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=28
	Run string `json:"run,omitempty"`

	// progress is the number of finished runs and of all runs, such as "1/3".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Progress string `json:"progress,omitempty"`

	// startTime is when the round started.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// against are the good rounds that this round is compared with, newest first. Absent if there are none.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=2147483647
	Against []int32 `json:"against,omitempty"`
}

// WorseValue is a value that regressed and has not recovered.
type WorseValue struct {
	// round is the first round with the worse value.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	Round int32 `json:"round,omitempty"`

	// rounds is the number of rounds since the change was found, including that one.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	Rounds int32 `json:"rounds,omitempty"`

	// message names the run, the value and the change.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// RoundChangePoints are the change points found in the reports up to a round. Reports are read once. If the store fails, reading is retried
// every ten minutes while the suite depends on this round.
// +kubebuilder:validation:MinProperties=1
type RoundChangePoints struct {
	// startTime is when the operator first tried to read the reports.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when the reports were read, or when the last try failed. Absent before.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// worse are the values that regressed and have not recovered, newest change first; at most 8.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Worse []WorseValue `json:"worse,omitempty"`

	// reason is why the reports cannot be read. Absent if they were read.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// message says why the reports cannot be read, which rounds were left out, or whether there are too few rounds.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// SuiteRound is a finished round.
type SuiteRound struct {
	// round is the number of the round.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	Round int32 `json:"round,omitempty"`

	// trigger is the cause of the round.
	// +optional
	Trigger Trigger `json:"trigger,omitempty"`

	// parameters are the values from the request. Absent if every parameter had its default.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Parameters []ParameterValue `json:"parameters,omitempty"`

	// webhook is the id of the request (webhook, or by hand with values). Absent for other triggers.
	// +optional
	// +kubebuilder:validation:MinLength=64
	// +kubebuilder:validation:MaxLength=64
	Webhook string `json:"webhook,omitempty"`
	// pullRequest is the number of the measured pull request, from the parameter that notifications name. Such a round is compared with good
	// rounds but does not affect the suite's conditions. Absent for other rounds.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	PullRequest string `json:"pullRequest,omitempty"`

	// noted are the values of the parameters that notifications name, at the start of the round. If a request gave values, the commit of the
	// spec is left out. Absent if there are none.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Noted []ParameterValue `json:"noted,omitempty"`

	// inputs is the hash of the measured inputs.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Inputs string `json:"inputs,omitempty"`

	// outcome is the result of the round.
	// +optional
	Outcome RoundOutcome `json:"outcome,omitempty"`

	// reason is the reason of the run that decided the outcome.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// message explains the reason, with values.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`

	// startTime is when the round started.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when the last run ended.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// against are the good rounds that this round was compared with, newest first. Absent if there were none.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=2147483647
	Against []int32 `json:"against,omitempty"`

	// changePoints are the change points for gate.changePoints. Absent if the gate does not use them.
	// +optional
	ChangePoints RoundChangePoints `json:"changePoints,omitzero"`
}

// GoodRun locates a run of a good round in the object store.
type GoodRun struct {
	// name is the name of the run in the suite.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	Name string `json:"name,omitempty"`

	// prefix is the object-store prefix of the run.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Prefix string `json:"prefix,omitempty"`

	// run identifies the run, as in against.runs of an objective.
	// +required
	Run PastRun `json:"run,omitzero"`

	// report is the object-store key of the HTML report.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Report string `json:"report,omitempty"`
}

// GoodRound is a passed round that later rounds are compared with.
type GoodRound struct {
	// round is the number of the round.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	Round int32 `json:"round,omitempty"`

	// runs are the runs of the round.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Runs []GoodRun `json:"runs,omitempty"`
}

// BenchmarkSuiteStatus is the observed state of a suite.
// +kubebuilder:validation:MinProperties=1
type BenchmarkSuiteStatus struct {
	// conditions are Ready, Reconciling and Stalled (as in kstatus), Measuring, ImagesResolved and, with notifications, Notified.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status describes. Default: -1, before the first status.
	// +optional
	// +default=-1
	ObservedGeneration *int64 `json:"observedGeneration,omitempty"`

	// inputs are what the next round would measure.
	// +optional
	Inputs SuiteInputs `json:"inputs,omitzero"`

	// current is the round in progress.
	// +optional
	Current CurrentRound `json:"current,omitzero"`

	// lastRound is the newest finished round, without rounds of pull requests.
	// +optional
	LastRound SuiteRound `json:"lastRound,omitzero"`

	// lastGood is the newest passed round, without rounds of pull requests. Its runs are never deleted.
	// +optional
	LastGood SuiteRound `json:"lastGood,omitzero"`

	// goodRounds are the newest passed rounds, without rounds of pull requests, newest first; at most 20. Objectives with against.lastGood use
	// them, even after their runs were deleted from the cluster.
	// +optional
	// +listType=map
	// +listMapKey=round
	// +kubebuilder:validation:MaxItems=20
	GoodRounds []GoodRound `json:"goodRounds,omitempty"`

	// history are the finished rounds, newest first; at most 20. It always includes the round that decides Ready.
	// +optional
	// +listType=map
	// +listMapKey=round
	// +kubebuilder:validation:MaxItems=20
	History []SuiteRound `json:"history,omitempty"`

	// measuredBefore are commits whose inputs a round had already measured or was measuring, newest first; at most 20. Absent without gitHub
	// or gitLab notifications.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	MeasuredBefore []MeasuredBefore `json:"measuredBefore,omitempty"`

	// notifications are the delivery states of the receivers.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	Notifications []NotificationStatus `json:"notifications,omitempty"`

	// nextScheduleTime is the next scheduled time. It can be in the past while a round is in progress.
	// +optional
	NextScheduleTime *metav1.Time `json:"nextScheduleTime,omitempty"`

	// lastHandledRequest is the last handled value of the annotation loadstone.dev/requestedAt.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	LastHandledRequest string `json:"lastHandledRequest,omitempty"`

	// lastHandledReconcileAt is the last handled value of the annotation reconcile.fluxcd.io/requestedAt.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	LastHandledReconcileAt string `json:"lastHandledReconcileAt,omitempty"`

	// lastHandledWebhook is the id of the last handled request (webhook, or by hand with values).
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	LastHandledWebhook string `json:"lastHandledWebhook,omitempty"`
}
