// Package reason maps each reason of the API to the origin of the failure that it names. It is the one table for package conduct, which
// decides after a trial has failed, and for the packages that count the failures of a run that has ended.
package reason

import "loadstone.dev/loadstone/api/v1alpha1"

// Origin is the origin of a failure.
type Origin int

const (
	// Nobody is the origin of reasons that name no failure of a trial, but its progress, its run or its report.
	Nobody Origin = iota + 1
	// Implementation failures are caused by the implementation and count against it.
	Implementation
	// Setup failures are of an image, an object, a pod or a node that the spec asks for and the cluster cannot give. They count against no implementation.
	Setup
	// Load failures are of a load that cannot be made, whatever the implementation.
	Load
	// Infrastructure failures are caused by the cluster, an agent or the store. They count against no implementation, and disturb their block.
	Infrastructure
)

var origins = map[string]Origin{
	v1alpha1.ReasonPending:             Nobody,
	v1alpha1.ReasonDone:                Nobody,
	v1alpha1.ReasonInProgress:          Nobody,
	v1alpha1.ReasonDeleted:             Nobody,
	v1alpha1.ReasonTimedOut:            Nobody,
	v1alpha1.ReasonEnoughMeasured:      Nobody,
	v1alpha1.ReasonInvalidSpec:         Nobody,
	v1alpha1.ReasonNotEnoughCPUs:       Nobody,
	v1alpha1.ReasonNotEnoughMemory:     Nobody,
	v1alpha1.ReasonNotEnoughResources:  Nobody,
	v1alpha1.ReasonQueued:              Nobody,
	v1alpha1.ReasonTrialsFailed:        Nobody,
	v1alpha1.ReasonTrialWaiting:        Nobody,
	v1alpha1.ReasonWorkflowFailed:      Nobody,
	v1alpha1.ReasonWorkflowEngineDown:  Nobody,
	v1alpha1.ReasonReportFailed:        Nobody,
	v1alpha1.ReasonObjectivesMissed:    Nobody,
	v1alpha1.ReasonObjectivesUndecided: Nobody,
	v1alpha1.ReasonTooFewBlocks:        Nobody,
	v1alpha1.ReasonNothingCounts:       Nobody,
	v1alpha1.ReasonNothingToCompare:    Nobody,
	v1alpha1.ReasonNoiseTooHigh:        Nobody,
	v1alpha1.ReasonUndecided:           Nobody,
	v1alpha1.ReasonSuspended:           Nobody,
	v1alpha1.ReasonNoRound:             Nobody,
	v1alpha1.ReasonBecameWorse:         Nobody,
	v1alpha1.ReasonServerNotListening:  Implementation,
	v1alpha1.ReasonServerExited:        Implementation,
	v1alpha1.ReasonDependencyFailed:    Implementation,
	v1alpha1.ReasonWrongResponse:       Implementation,
	v1alpha1.ReasonProgramFailed:       Implementation,
	v1alpha1.ReasonProgramTooLong:      Implementation,
	v1alpha1.ReasonOutputUnreadable:    Implementation,
	v1alpha1.ReasonBuildMismatch:       Implementation,
	v1alpha1.ReasonImagePull:           Setup,
	v1alpha1.ReasonObjectMissing:       Setup,
	v1alpha1.ReasonObjectChanged:       Setup,
	v1alpha1.ReasonPodRejected:         Setup,
	v1alpha1.ReasonUnschedulable:       Setup,
	v1alpha1.ReasonImageNotFound:       Setup,
	v1alpha1.ReasonLoadImpossible:      Load,
	v1alpha1.ReasonPodLost:             Infrastructure,
	v1alpha1.ReasonAgentLost:           Infrastructure,
	v1alpha1.ReasonAgentFailed:         Infrastructure,
	v1alpha1.ReasonUploadFailed:        Infrastructure,
	v1alpha1.ReasonRunDenied:           Setup,
	v1alpha1.ReasonSinkRefused:         Setup,
	v1alpha1.ReasonTokenMissing:        Setup,
	v1alpha1.ReasonRegistryUnavailable: Infrastructure,
	v1alpha1.ReasonSinkUnavailable:     Infrastructure,
	v1alpha1.ReasonStoreUnavailable:    Infrastructure,
	v1alpha1.ReasonStoreRefused:        Infrastructure,
	v1alpha1.ReasonOperatorFailed:      Infrastructure,
}

// Of returns the origin of a reason; zero for a word that is not a reason of the API.
func Of(reason string) Origin { return origins[reason] }
