package v1alpha1

// Origin is the origin of a failure. Each reason has one; package conduct decides by it after a trial has failed.
type Origin int32

const (
	// Nobody is the origin of reasons that name no failure of a trial, but its progress, its run or its report.
	OriginNone Origin = iota + 1
	// Implementation failures are caused by the implementation and count against it.
	OriginImplementation
	// Setup failures are of an image, an object, a pod or a node that the spec asks for and the cluster cannot give. They count against no implementation.
	OriginSetup
	// Load failures are of a load that cannot be made, whatever the implementation.
	OriginLoad
	// Infrastructure failures are caused by the cluster, an agent or the store. They count against no implementation, and disturb their block.
	OriginInfrastructure
)

var originOfReason = map[string]Origin{
	ReasonPending:             OriginNone,
	ReasonDone:                OriginNone,
	ReasonInProgress:          OriginNone,
	ReasonDeleted:             OriginNone,
	ReasonTimedOut:            OriginNone,
	ReasonEnoughMeasured:      OriginNone,
	ReasonInvalidSpec:         OriginNone,
	ReasonNotEnoughCPUs:       OriginNone,
	ReasonNotEnoughMemory:     OriginNone,
	ReasonNotEnoughResources:  OriginNone,
	ReasonQueued:              OriginNone,
	ReasonTrialsFailed:        OriginNone,
	ReasonTrialWaiting:        OriginNone,
	ReasonWorkflowFailed:      OriginNone,
	ReasonWorkflowEngineDown:  OriginNone,
	ReasonReportFailed:        OriginNone,
	ReasonObjectivesMissed:    OriginNone,
	ReasonObjectivesUndecided: OriginNone,
	ReasonTooFewBlocks:        OriginNone,
	ReasonNothingCounts:       OriginNone,
	ReasonNothingToCompare:    OriginNone,
	ReasonNoiseTooHigh:        OriginNone,
	ReasonUndecided:           OriginNone,
	ReasonSuspended:           OriginNone,
	ReasonNoRound:             OriginNone,
	ReasonBecameWorse:         OriginNone,
	ReasonServerNotListening:  OriginImplementation,
	ReasonServerExited:        OriginImplementation,
	ReasonDependencyFailed:    OriginImplementation,
	ReasonWrongResponse:       OriginImplementation,
	ReasonProgramFailed:       OriginImplementation,
	ReasonProgramTooLong:      OriginImplementation,
	ReasonOutputUnreadable:    OriginImplementation,
	ReasonBuildMismatch:       OriginImplementation,
	ReasonImagePull:           OriginSetup,
	ReasonObjectMissing:       OriginSetup,
	ReasonObjectChanged:       OriginSetup,
	ReasonPodRejected:         OriginSetup,
	ReasonUnschedulable:       OriginSetup,
	ReasonImageNotFound:       OriginSetup,
	ReasonLoadImpossible:      OriginLoad,
	ReasonPodLost:             OriginInfrastructure,
	ReasonAgentLost:           OriginInfrastructure,
	ReasonAgentFailed:         OriginInfrastructure,
	ReasonUploadFailed:        OriginInfrastructure,
	ReasonRunDenied:           OriginSetup,
	ReasonSinkRefused:         OriginSetup,
	ReasonTokenMissing:        OriginSetup,
	ReasonRegistryUnavailable: OriginInfrastructure,
	ReasonSinkUnavailable:     OriginInfrastructure,
	ReasonStoreUnavailable:    OriginInfrastructure,
	ReasonStoreRefused:        OriginInfrastructure,
	ReasonOperatorFailed:      OriginInfrastructure,
}

// Of returns the origin of a reason; zero for a word that is not a reason of the API.
func OriginOf(reason string) Origin { return originOfReason[reason] }
