package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Trigger is what has started a round.
// +kubebuilder:validation:Enum=Change;Schedule;Request;Webhook
type Trigger string

const (
	// TriggerChange is a change of the inputs.
	TriggerChange Trigger = "Change"
	// TriggerSchedule is a scheduled time.
	TriggerSchedule Trigger = "Schedule"
	// TriggerRequest is a request by hand.
	TriggerRequest Trigger = "Request"
	// TriggerWebhook is a request to the webhook.
	TriggerWebhook Trigger = "Webhook"
)

// RoundOutcome is how a round has ended.
// +kubebuilder:validation:Enum=Passed;Missed;Inconclusive;Failed;Replaced;Incomplete
type RoundOutcome string

const (
	// RoundPassed rounds have met every objective; without objectives, every comparison has a verdict.
	RoundPassed RoundOutcome = "Passed"
	// RoundMissed rounds have missed an objective.
	RoundMissed RoundOutcome = "Missed"
	// RoundInconclusive rounds have missed no objective, and leave something open.
	RoundInconclusive RoundOutcome = "Inconclusive"
	// RoundFailed rounds hold a run that failed.
	RoundFailed RoundOutcome = "Failed"
	// RoundReplaced rounds were ended for a newer one.
	RoundReplaced RoundOutcome = "Replaced"
	// RoundIncomplete rounds lack a run that somebody has deleted.
	RoundIncomplete RoundOutcome = "Incomplete"
)

// ResolvedImage is an image of the inputs, and what its tag stands for.
type ResolvedImage struct {
	// image is the image as the suite has it, with its parameters filled in.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	Image string `json:"image,omitempty"`

	// digest is the digest behind the tag.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Digest string `json:"digest,omitempty"`
}

// ParameterValue is the value of a parameter.
type ParameterValue struct {
	// name is the parameter's.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// value is the parameter's text.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Value string `json:"value,omitempty"`
}

// SuiteInputs is what a round of the suite would measure now.
// +kubebuilder:validation:MinProperties=1
type SuiteInputs struct {
	// hash is the digest of the specs of all runs, with parameters filled in and images resolved.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Hash string `json:"hash,omitempty"`

	// images are the images whose tags were resolved.
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
	// round is the number of the round. The first is 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	Round int32 `json:"round,omitempty"`

	// trigger is what has started the round.
	// +optional
	Trigger Trigger `json:"trigger,omitempty"`

	// parameters are the values that a request gives, to the webhook or by hand. Absent if every parameter has its default.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Parameters []ParameterValue `json:"parameters,omitempty"`

	// webhook is the id of the request that the round answers, to the webhook or by hand with values. Absent if it answers none.
	// +optional
	// +kubebuilder:validation:MinLength=64
	// +kubebuilder:validation:MaxLength=64
	Webhook string `json:"webhook,omitempty"`
	// pullRequest is the number of the pull request that the round measures, by the parameter that notifications name for it. It is compared with
	// good rounds, and counts for nothing else: the suite is not judged by it. Absent if the round measures what the suite has by itself.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	PullRequest string `json:"pullRequest,omitempty"`

	// run is the name of the BenchmarkRun that is measured, or measured next.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=28
	Run string `json:"run,omitempty"`

	// progress is the number of runs that have ended and of all runs of the round, such as "1/3".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Progress string `json:"progress,omitempty"`

	// startTime is when the round began.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// against are the numbers of the good rounds that the round is compared with, the newest first. Absent if it is compared with none.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=2147483647
	Against []int32 `json:"against,omitempty"`
}

// WorseValue is a value that became worse, and has stayed so.
type WorseValue struct {
	// round is the first round in which the value is worse.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	Round int32 `json:"round,omitempty"`

	// rounds is how many rounds have the worse value.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	Rounds int32 `json:"rounds,omitempty"`

	// message says which value of which run it is, and by how much it has changed.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// RoundChangePoints is what the reports of a round and of those before it say of change points. They are read once; where the
// store did not give them, it is asked again every ten minutes, as long as the suite is judged by the round.
// +kubebuilder:validation:MinProperties=1
type RoundChangePoints struct {
	// startTime is when the reports were first asked for.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when they had been read, or when the store was last given up. Absent while it is waited for.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// worse are the values that became worse, and have stayed so; those with the newest change first, at most 8.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Worse []WorseValue `json:"worse,omitempty"`

	// reason is why the reports cannot be read. Absent if they could.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// message says why the reports cannot be read, or which rounds were left out, and whether there are rounds enough.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// SuiteRound is a round that has ended.
type SuiteRound struct {
	// round is the number of the round.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	Round int32 `json:"round,omitempty"`

	// trigger is what started the round.
	// +optional
	Trigger Trigger `json:"trigger,omitempty"`

	// parameters are the values that a request gave, to the webhook or by hand. Absent if every parameter had its default.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Parameters []ParameterValue `json:"parameters,omitempty"`

	// webhook is the id of the request that the round has answered, to the webhook or by hand with values. Absent if it has answered none.
	// +optional
	// +kubebuilder:validation:MinLength=64
	// +kubebuilder:validation:MaxLength=64
	Webhook string `json:"webhook,omitempty"`
	// pullRequest is the number of the pull request that the round has measured, by the parameter that notifications name for it. It is compared with
	// good rounds, and counts for nothing else: the suite is not judged by it. Absent if the round measures what the suite has by itself.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	PullRequest string `json:"pullRequest,omitempty"`

	// noted are the values that the parameters had when the round began which notifications name, without a commit of the spec where a request has
	// given values. Absent if there is none.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Noted []ParameterValue `json:"noted,omitempty"`

	// inputs is the hash of what the round measured.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Inputs string `json:"inputs,omitempty"`

	// outcome is how the round ended.
	// +optional
	Outcome RoundOutcome `json:"outcome,omitempty"`

	// reason is why, in a word: that of the run which decided the outcome.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// message is the same in a sentence, with the values.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`

	// startTime is when the round began.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when its last run ended.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// against are the numbers of the good rounds that the round was compared with, the newest first. Absent if it was compared with none.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=2147483647
	Against []int32 `json:"against,omitempty"`

	// changePoints is what gate.changePoints rests upon. Absent if the gate did not ask.
	// +optional
	ChangePoints RoundChangePoints `json:"changePoints,omitzero"`
}

// GoodRun is where a run of a good round lies.
type GoodRun struct {
	// name is the run's in the suite.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	Name string `json:"name,omitempty"`

	// prefix is the object-store prefix of the run, as against.runs of an objective names it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Prefix string `json:"prefix,omitempty"`

	// report is the object-store key of the page of the run's report.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Report string `json:"report,omitempty"`
}

// GoodRound is a round that has passed, with what later rounds are compared with.
type GoodRound struct {
	// round is the number of the round.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	Round int32 `json:"round,omitempty"`

	// runs are its runs.
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
	// conditions are Ready, Reconciling and Stalled as kstatus defines them, Measuring, ImagesResolved, and Notified if the suite has notifications.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status describes. Defaults to -1, which no generation has.
	// +optional
	// +default=-1
	ObservedGeneration *int64 `json:"observedGeneration,omitempty"`

	// inputs is what a round would measure now.
	// +optional
	Inputs SuiteInputs `json:"inputs,omitzero"`

	// current is the round in progress.
	// +optional
	Current CurrentRound `json:"current,omitzero"`

	// lastRound is the newest round that has ended, of those that are of no pull request.
	// +optional
	LastRound SuiteRound `json:"lastRound,omitzero"`

	// lastGood is the newest round that has passed, of those that are of no pull request. Its runs are never deleted.
	// +optional
	LastGood SuiteRound `json:"lastGood,omitzero"`

	// goodRounds are the newest rounds that have passed and are of no pull request, the newest first, and where their runs lie in the object store; at
	// most 20. Objectives with against.lastGood compare with them, also when their runs are no longer in the cluster.
	// +optional
	// +listType=map
	// +listMapKey=round
	// +kubebuilder:validation:MaxItems=20
	GoodRounds []GoodRound `json:"goodRounds,omitempty"`

	// history are the rounds that have ended, the newest first; at most 20. The one that the suite is judged by is among them, however old it is.
	// +optional
	// +listType=map
	// +listMapKey=round
	// +kubebuilder:validation:MaxItems=20
	History []SuiteRound `json:"history,omitempty"`

	// measuredBefore are commits that came when a round of the history, or the one in progress, had their inputs, the newest first; at most 20. Absent
	// without notifications of repositories.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	MeasuredBefore []MeasuredBefore `json:"measuredBefore,omitempty"`

	// notifications are what the sinks of the suite have been told.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	Notifications []NotificationStatus `json:"notifications,omitempty"`

	// nextScheduleTime is the next scheduled time, or one that has passed and waits for the end of the round in progress.
	// +optional
	NextScheduleTime *metav1.Time `json:"nextScheduleTime,omitempty"`

	// lastHandledRequest is the value of the annotation loadstone.dev/requestedAt that was answered last.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	LastHandledRequest string `json:"lastHandledRequest,omitempty"`

	// lastHandledReconcileAt is the value of the annotation reconcile.fluxcd.io/requestedAt that was answered last.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	LastHandledReconcileAt string `json:"lastHandledReconcileAt,omitempty"`

	// lastHandledWebhook is the id of the request that was answered last, to the webhook or by hand with values.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	LastHandledWebhook string `json:"lastHandledWebhook,omitempty"`
}
