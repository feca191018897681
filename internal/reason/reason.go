// Package reason says whose failure each reason of the API tells of. It is the one table for whoever leads a run after a trial has failed, and
// for whoever counts the failures of a run that was led.
package reason

import "loadstone.dev/loadstone/api/v1alpha1"

// Origin is whose failure a reason tells of.
type Origin int

const (
	// Nobody has failed where a reason tells of no failure of a trial, but of its course, its run or its report.
	Nobody Origin = iota + 1
	// Implementation failures are of the implementation's own making, and are held against it.
	Implementation
	// Setup failures are of an image, a pod or a node that the spec asks for and the cluster cannot give. They are held against nobody.
	Setup
	// Load failures are of a load that cannot be made, whatever the implementation.
	Load
	// Infrastructure failures came from outside. They are held against nobody, and cost their block.
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
	v1alpha1.ReasonQueued:              Nobody,
	v1alpha1.ReasonTrialsFailed:        Nobody,
	v1alpha1.ReasonWorkflowFailed:      Nobody,
	v1alpha1.ReasonWorkflowEngineDown:  Nobody,
	v1alpha1.ReasonReportFailed:        Nobody,
	v1alpha1.ReasonObjectivesMissed:    Nobody,
	v1alpha1.ReasonObjectivesUndecided: Nobody,
	v1alpha1.ReasonTooFewBlocks:        Nobody,
	v1alpha1.ReasonNothingToCompare:    Nobody,
	v1alpha1.ReasonNoiseTooHigh:        Nobody,
	v1alpha1.ReasonUndecided:           Nobody,
	v1alpha1.ReasonServerNotListening:  Implementation,
	v1alpha1.ReasonServerExited:        Implementation,
	v1alpha1.ReasonWrongResponse:       Implementation,
	v1alpha1.ReasonImagePull:           Setup,
	v1alpha1.ReasonPodRejected:         Setup,
	v1alpha1.ReasonUnschedulable:       Setup,
	v1alpha1.ReasonLoadImpossible:      Load,
	v1alpha1.ReasonPodLost:             Infrastructure,
	v1alpha1.ReasonAgentLost:           Infrastructure,
	v1alpha1.ReasonAgentFailed:         Infrastructure,
	v1alpha1.ReasonUploadFailed:        Infrastructure,
	v1alpha1.ReasonStoreUnavailable:    Infrastructure,
}

// Of is whose failure a reason tells of; zero for a word that is no reason of the API.
func Of(reason string) Origin { return origins[reason] }
