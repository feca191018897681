package v1alpha1

// Conditions of a BenchmarkRun. They start as Unknown.
const (
	// ConditionPlanned: the spec was compiled into a plan that this cluster can run.
	ConditionPlanned = "Planned"
	// ConditionExecuted: every trial of the plan has ended.
	ConditionExecuted = "Executed"
	// ConditionReported: the report is in the object store.
	ConditionReported = "Reported"
	// ConditionConclusive: every comparison has a verdict.
	ConditionConclusive = "Conclusive"
	// ConditionSucceeded is the summary. True: measured, reported, every objective met. False: ended otherwise. Unknown: in progress.
	ConditionSucceeded = "Succeeded"
	// ConditionReconciling: in progress (kstatus).
	ConditionReconciling = "Reconciling"
	// ConditionStalled: failed permanently (kstatus).
	ConditionStalled = "Stalled"
)

// Conditions of a Trial, in addition to Succeeded.
const (
	// ConditionPrepared: the server listens and answers as expected, and the generators are ready.
	ConditionPrepared = "Prepared"
	// ConditionMeasured: the last cell has ended.
	ConditionMeasured = "Measured"
	// ConditionStored: all artifacts, and then the manifest, are in the object store.
	ConditionStored = "Stored"
)

// Conditions of a BenchmarkSuite, in addition to Reconciling and Stalled.
const (
	// ConditionReady: the newest round of the current inputs passed. Unknown: changed inputs are not yet measured.
	ConditionReady = "Ready"
	// ConditionMeasuring: a round is in progress.
	ConditionMeasuring = "Measuring"
	// ConditionImagesResolved: the digest of each tag is known.
	ConditionImagesResolved = "ImagesResolved"
	// ConditionNotified: the last delivery to every receiver succeeded. It does not depend on the result of rounds.
	ConditionNotified = "Notified"
)

// Reasons that several conditions share.
const (
	// ReasonPending: an earlier step must end first.
	ReasonPending = "Pending"
	// ReasonDone: the step succeeded.
	ReasonDone = "Done"
	// ReasonInProgress: the step is in progress.
	ReasonInProgress = "InProgress"
	// ReasonDeleted: the object is being deleted.
	ReasonDeleted = "Deleted"
	// ReasonOperatorFailed: a defect of the operator.
	ReasonOperatorFailed = "OperatorFailed"
	// ReasonTimedOut: the run exceeded timeoutSeconds.
	ReasonTimedOut = "TimedOut"
)

// Reasons of Planned.
const (
	// ReasonInvalidSpec: the spec cannot be measured.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonNotEnoughCPUs: no node has enough exclusive CPUs for a pod.
	ReasonNotEnoughCPUs = "NotEnoughCPUs"
	// ReasonNotEnoughMemory: no node has enough memory for a pod and its tools.
	ReasonNotEnoughMemory = "NotEnoughMemory"
	// ReasonNotEnoughResources: no node has enough of another resource, such as huge pages.
	ReasonNotEnoughResources = "NotEnoughResources"
	// ReasonStoreUnavailable: the object store is unreachable, or refuses the bucket or key.
	ReasonStoreUnavailable = "StoreUnavailable"
	// ReasonStoreRefused: the run waits for an object store that refuses the key, the bucket or more data, that returns no SHA-256, or that
	// overwrites objects.
	ReasonStoreRefused = "StoreRefused"
)

// Reasons of Executed.
const (
	// ReasonQueued: another run comes first, because two runs would disturb each other.
	ReasonQueued = "Queued"
	// ReasonTrialWaiting: a trial waits for something unavailable or refused, such as a quota, an image, a node or the store.
	ReasonTrialWaiting = "TrialWaiting"
	// ReasonTrialsFailed: at least one trial of a block failed permanently. A lost trial counts if too few blocks are complete.
	ReasonTrialsFailed = "TrialsFailed"
	// ReasonWorkflowFailed: the workflow ended before its trials.
	ReasonWorkflowFailed = "WorkflowFailed"
	// ReasonWorkflowEngineDown: for a minute, Argo did not pick up the workflow or did not release the next trial.
	ReasonWorkflowEngineDown = "WorkflowEngineDown"
)

// Reasons of Reported.
const (
	// ReasonReportFailed: the report could not be created or stored.
	ReasonReportFailed = "ReportFailed"
)

// Reasons of Succeeded for a run that was measured and reported.
const (
	// ReasonObjectivesMissed: a measured value is on the wrong side of its objective.
	ReasonObjectivesMissed = "ObjectivesMissed"
	// ReasonObjectivesUndecided: no objective is missed, and at least one is undecided. Succeeded is then False, not Unknown: the run has
	// ended, and an undecided objective fails the gate.
	ReasonObjectivesUndecided = "ObjectivesUndecided"
)

// Reasons of a BenchmarkSuite. Ready also has the final reasons of a run's Succeeded.
const (
	// ReasonSuspended: spec.suspend is true on a suite with changed inputs or on a queued run, or the workflow of a run was suspended.
	ReasonSuspended = "Suspended"
	// ReasonNoRound: no round has ended, and none starts now.
	ReasonNoRound = "NoRound"
	// ReasonRegressed: a value regressed within the rounds of gate.changePoints.
	ReasonRegressed = "Regressed"
	// ReasonRunDenied: a quota, a webhook or a policy denies the runs of a suite.
	ReasonRunDenied = "RunDenied"
	// ReasonImageNotFound: the registry does not have an image.
	ReasonImageNotFound = "ImageNotFound"
	// ReasonRegistryUnavailable: the registry is unreachable, or rejects the operator's credentials or anonymous access.
	ReasonRegistryUnavailable = "RegistryUnavailable"
	// ReasonSinkRefused: a receiver refuses notifications.
	ReasonSinkRefused = "SinkRefused"
	// ReasonSinkUnavailable: a receiver is unreachable or does not answer in time, or the API server does not return its token now.
	ReasonSinkUnavailable = "SinkUnavailable"
	// ReasonTokenMissing: the token of a notification does not exist, or the operator may not read it.
	ReasonTokenMissing = "TokenMissing"
)

// Reasons of Conclusive.
const (
	// ReasonTooFewBlocks: fewer than seven complete blocks give a ratio, but no verdict.
	ReasonTooFewBlocks = "TooFewBlocks"
	// ReasonNoValidResults: no cell and no case is valid.
	ReasonNoValidResults = "NoValidResults"
	// ReasonNothingToCompare: the run has only one contender.
	ReasonNothingToCompare = "NothingToCompare"
	// ReasonNoiseTooHigh: a comparison with enough blocks is Inconclusive because of noise alone.
	ReasonNoiseTooHigh = "NoiseTooHigh"
	// ReasonIndicated: others disturbed the cells, but their effect cannot explain the difference in status.verdict.
	ReasonIndicated = "Indicated"
	// ReasonSuspectCells: every cell of a side of a comparison is suspect.
	ReasonSuspectCells = "SuspectCells"
	// ReasonUndecided: a comparison is Inconclusive for another reason, see status.verdict: a saturated generator, a rate that neither side
	// sustained, implementation failures.
	ReasonUndecided = "Undecided"
)

// Reasons of a Trial. Infrastructure failures are retried; implementation failures are not.
const (
	// ReasonImagePull: an image cannot be pulled.
	ReasonImagePull = "ImagePull"
	// ReasonObjectMissing: a ConfigMap, a Secret or one of its keys does not exist.
	ReasonObjectMissing = "ObjectMissing"
	// ReasonObjectChanged: an implementation's ConfigMap changed after the start of the run.
	ReasonObjectChanged = "ObjectChanged"
	// ReasonServerNotListening: the server does not listen on its port in time.
	ReasonServerNotListening = "ServerNotListening"
	// ReasonServerExited: the server exits before the trial ends.
	ReasonServerExited = "ServerExited"
	// ReasonDependencyFailed: a dependency is not ready in time, or exits before the trial ends.
	ReasonDependencyFailed = "DependencyFailed"
	// ReasonWrongResponse: the server's response differs from expect.
	ReasonWrongResponse = "WrongResponse"
	// ReasonProgramFailed: a microbenchmark exits with a code other than 0, or is killed by a signal.
	ReasonProgramFailed = "ProgramFailed"
	// ReasonProgramTimedOut: a microbenchmark exceeds microbenchmark.limitSeconds.
	ReasonProgramTimedOut = "ProgramTimedOut"
	// ReasonOutputUnreadable: a microbenchmark's output is not in microbenchmark.format.
	ReasonOutputUnreadable = "OutputUnreadable"
	// ReasonBuildMismatch: the server was not built as implementations[].build requires.
	ReasonBuildMismatch = "BuildMismatch"
	// ReasonLoadImpossible: the load cannot be generated: its script fails, or it exceeds a generator's resources.
	ReasonLoadImpossible = "LoadImpossible"
	// ReasonUnschedulable: a pod finds no node in time, or the run waits for the node that it is bound to.
	ReasonUnschedulable = "Unschedulable"
	// ReasonPodLost: a pod was refused by the node, evicted, deleted or lost.
	ReasonPodLost = "PodLost"
	// ReasonAgentLost: an agent no longer answers.
	ReasonAgentLost = "AgentLost"
	// ReasonAgentFailed: an agent reports a failure.
	ReasonAgentFailed = "AgentFailed"
	// ReasonPodRejected: the API server or a kubelet refuses a pod, or a webhook added a container to it.
	ReasonPodRejected = "PodRejected"
	// ReasonStoppedEarly: the run ended before this trial, because its intervals were narrow enough.
	ReasonStoppedEarly = "StoppedEarly"
	// ReasonUploadFailed: artifacts could not be stored in time.
	ReasonUploadFailed = "UploadFailed"
	// ReasonResultsTooLarge: a trial's files exceed their limits.
	ReasonResultsTooLarge = "ResultsTooLarge"
)

// Names on objects that the operator creates, and on nodes.
const (
	// LabelRunUID is the UID of the BenchmarkRun, on every object created for it.
	LabelRunUID = "loadstone.dev/run-uid"
	// LabelRun is the name of the BenchmarkRun.
	LabelRun = "loadstone.dev/run"
	// LabelImplementation and LabelPeer are the implementations of a Trial. Only a duet has a peer.
	LabelImplementation = "loadstone.dev/implementation"
	LabelPeer           = "loadstone.dev/peer"
	// LabelTrial is the name of the Trial.
	LabelTrial = "loadstone.dev/trial"
	// LabelMember is the name of the pod in its trial, such as "server-0" or "generator-0".
	LabelMember = "loadstone.dev/member"
	// LabelAttempt is the attempt of the Trial.
	LabelAttempt = "loadstone.dev/attempt"
	// LabelRole is RoleServer or RoleGenerator, on measured pods and on nodes.
	LabelRole = "loadstone.dev/role"
	// TaintMeasure keeps all other pods off the measuring nodes.
	TaintMeasure = "loadstone.dev/measure"
	// RoleServer marks pods that run implementations, and the nodes for them.
	RoleServer = "server"
	// RoleGenerator marks pods that run load generators, and the nodes for them.
	RoleGenerator = "generator"
	// LabelSuiteUID is the UID of the BenchmarkSuite, on each of its runs.
	LabelSuiteUID = "loadstone.dev/suite-uid"
	// LabelSuite is the name of the BenchmarkSuite.
	LabelSuite = "loadstone.dev/suite"
	// LabelRound is the number of the round of a run.
	LabelRound = "loadstone.dev/round"
	// AnnotationRound is the operator's private record of a run's round, as JSON.
	AnnotationRound = "loadstone.dev/round-record"
	// AnnotationRequestedAt starts a round when its value changes.
	AnnotationRequestedAt = "loadstone.dev/requestedAt"
	// AnnotationReconcileAt is the same, in Flux.
	AnnotationReconcileAt = "reconcile.fluxcd.io/requestedAt"
	// AnnotationWebhook is the newest request with values, from the webhook or by hand, as JSON in a private format.
	AnnotationWebhook = "loadstone.dev/webhook"
	// Finalizer keeps a BenchmarkRun until its load has stopped and its objects in other namespaces are deleted.
	Finalizer = "loadstone.dev/cleanup"
)
