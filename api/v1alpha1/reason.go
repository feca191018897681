package v1alpha1

// Origin is the cause of a failure. Each reason has one. Package conduct uses it to decide what follows a failed trial.
type Origin int32

const (
	// OriginNone is for reasons that are no failure of a trial.
	OriginNone Origin = iota + 1
	// OriginImplementation: the implementation caused the failure, and it counts against it.
	OriginImplementation
	// OriginSetup: the cluster cannot provide an image, object, pod or node of the spec. Counts against no implementation.
	OriginSetup
	// OriginLoad: the load cannot be generated for any implementation.
	OriginLoad
	// OriginInfrastructure: the cluster, an agent or the store failed. Counts against no implementation and disturbs the block.
	OriginInfrastructure
)

var originOfReason = map[string]Origin{
	ReasonPending:             OriginNone,
	ReasonDone:                OriginNone,
	ReasonInProgress:          OriginNone,
	ReasonDeleted:             OriginNone,
	ReasonTimedOut:            OriginNone,
	ReasonStoppedEarly:        OriginNone,
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
	ReasonNoValidResults:      OriginNone,
	ReasonNothingToCompare:    OriginNone,
	ReasonNoiseTooHigh:        OriginNone,
	ReasonIndicated:           OriginNone,
	ReasonSuspectCells:        OriginNone,
	ReasonUndecided:           OriginNone,
	ReasonSuspended:           OriginNone,
	ReasonNoRound:             OriginNone,
	ReasonRegressed:           OriginNone,
	ReasonServerNotListening:  OriginImplementation,
	ReasonServerExited:        OriginImplementation,
	ReasonDependencyFailed:    OriginImplementation,
	ReasonWrongResponse:       OriginImplementation,
	ReasonProgramFailed:       OriginImplementation,
	ReasonProgramTimedOut:     OriginImplementation,
	ReasonOutputUnreadable:    OriginImplementation,
	ReasonBuildMismatch:       OriginImplementation,
	ReasonImagePull:           OriginSetup,
	ReasonObjectMissing:       OriginSetup,
	ReasonObjectChanged:       OriginSetup,
	ReasonPodRejected:         OriginSetup,
	ReasonUnschedulable:       OriginSetup,
	ReasonImageNotFound:       OriginSetup,
	ReasonResultsTooLarge:     OriginSetup,
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

// OriginOf returns the origin of a reason, or zero for an unknown one.
func OriginOf(reason string) Origin { return originOfReason[reason] }
