package v1alpha1

// Conditions of a BenchmarkRun. All are present from the first reconciliation on, as Unknown.
const (
	// ConditionPlanned is True when the spec was compiled into a plan that this cluster can run.
	ConditionPlanned = "Planned"
	// ConditionExecuted is True when every trial of the plan has ended.
	ConditionExecuted = "Executed"
	// ConditionReported is True when the report is in the object store.
	ConditionReported = "Reported"
	// ConditionConclusive is True when every comparison of the run has a verdict.
	ConditionConclusive = "Conclusive"
	// ConditionSucceeded is the summary: True when the run is measured and reported and every objective is met, False when it
	// ended otherwise, Unknown while it goes on.
	ConditionSucceeded = "Succeeded"
	// ConditionReconciling is True while the run goes on, as kstatus defines it.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True when the run has failed for good, as kstatus defines it.
	ConditionStalled = "Stalled"
)

// Conditions of a Trial, in addition to Succeeded.
const (
	// ConditionPrepared is True when the server listens, has answered as expected and the generators are ready.
	ConditionPrepared = "Prepared"
	// ConditionMeasured is True when the last cell has ended.
	ConditionMeasured = "Measured"
	// ConditionStored is True when all artifacts and then the manifest are in the object store.
	ConditionStored = "Stored"
)

// Conditions of a BenchmarkSuite, in addition to Reconciling and Stalled.
const (
	// ConditionReady is True when the newest round of the current inputs has passed, and False when it has not. It is Unknown while inputs that
	// have changed wait for their round, or are measured.
	ConditionReady = "Ready"
	// ConditionMeasuring is True while a round is in progress, whatever has started it.
	ConditionMeasuring = "Measuring"
	// ConditionImagesResolved is True when the digest behind each tag is known.
	ConditionImagesResolved = "ImagesResolved"
	// ConditionNotified is True when no sink of spec.notifications has failed since it last took a round. It says nothing of the rounds themselves.
	ConditionNotified = "Notified"
)

// Reasons that several conditions share.
const (
	// ReasonPending surfaces when an earlier step must end first.
	ReasonPending = "Pending"
	// ReasonDone surfaces when a step has ended successfully.
	ReasonDone = "Done"
	// ReasonInProgress surfaces when a step is in progress.
	ReasonInProgress = "InProgress"
	// ReasonDeleted surfaces when the object is being deleted.
	ReasonDeleted = "Deleted"
	// ReasonOperatorFailed surfaces when the operator fails at a run or a trial because of a defect of its own.
	ReasonOperatorFailed = "OperatorFailed"
	// ReasonTimedOut surfaces when a run has used up its timeoutSeconds.
	ReasonTimedOut = "TimedOut"
)

// Reasons of Planned.
const (
	// ReasonInvalidSpec surfaces when the spec cannot be measured as it is.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonNotEnoughCPUs surfaces when no node can give a pod as many exclusive CPUs as the spec asks for.
	ReasonNotEnoughCPUs = "NotEnoughCPUs"
	// ReasonNotEnoughMemory surfaces when no node can give a pod as much memory as the spec asks for, with what its tools need besides.
	ReasonNotEnoughMemory = "NotEnoughMemory"
	// ReasonNotEnoughResources surfaces when no node can give a pod as much of another resource as the spec asks for, such as huge pages.
	ReasonNotEnoughResources = "NotEnoughResources"
	// ReasonStoreUnavailable surfaces when the object store cannot be reached, or refuses the bucket or the key.
	ReasonStoreUnavailable = "StoreUnavailable"
	// ReasonStoreRefused surfaces while a run waits for an object store that refuses the key, the bucket or more data, that tells no
	// SHA-256 of what it holds, or that overwrites it.
	ReasonStoreRefused = "StoreRefused"
)

// Reasons of Executed.
const (
	// ReasonQueued surfaces when another run of the installation comes first: two runs would disturb each other.
	ReasonQueued = "Queued"
	// ReasonTrialWaiting surfaces while a trial waits for something that is away or that refuses, such as a quota, an image, a node or the store.
	ReasonTrialWaiting = "TrialWaiting"
	// ReasonTrialsFailed surfaces when at least one trial of a block has failed for good. A lost trial counts if too few blocks are complete.
	ReasonTrialsFailed = "TrialsFailed"
	// ReasonWorkflowFailed surfaces when the workflow ended before its trials.
	ReasonWorkflowFailed = "WorkflowFailed"
	// ReasonWorkflowEngineDown surfaces when Argo has not picked up the workflow, or has not released the trial whose turn has come, within a minute.
	ReasonWorkflowEngineDown = "WorkflowEngineDown"
)

// Reasons of Reported.
const (
	// ReasonReportFailed surfaces when the report could not be created or stored.
	ReasonReportFailed = "ReportFailed"
)

// Reasons of Succeeded for a run that was measured and reported.
const (
	// ReasonObjectivesMissed surfaces when a measured value lies on the wrong side of its objective.
	ReasonObjectivesMissed = "ObjectivesMissed"
	// ReasonObjectivesUndecided surfaces when no objective is missed and at least one is undecided. Succeeded is then False and not
	// Unknown: the run has ended, and a gate must not open on an undecided objective.
	ReasonObjectivesUndecided = "ObjectivesUndecided"
)

// Reasons of a BenchmarkSuite. Ready has moreover those with which a run's condition Succeeded ends.
const (
	// ReasonSuspended surfaces when changed inputs of a suite wait, or a run before its turn, since spec.suspend is true, or when somebody has suspended
	// the workflow of a run.
	ReasonSuspended = "Suspended"
	// ReasonNoRound surfaces when no round has ended, and none is to start now.
	ReasonNoRound = "NoRound"
	// ReasonBecameWorse surfaces when a value has become worse within the rounds that gate.changePoints names.
	ReasonBecameWorse = "BecameWorse"
	// ReasonRunDenied surfaces when a quota, a webhook or a policy denies the runs of a suite.
	ReasonRunDenied = "RunDenied"
	// ReasonImageNotFound surfaces when a registry does not have an image.
	ReasonImageNotFound = "ImageNotFound"
	// ReasonRegistryUnavailable surfaces when a registry cannot be reached, or does not answer without a password, or with the one that the operator has.
	ReasonRegistryUnavailable = "RegistryUnavailable"
	// ReasonSinkRefused surfaces when a sink answers that it does not take what it is told.
	ReasonSinkRefused = "SinkRefused"
	// ReasonSinkUnavailable surfaces when a sink cannot be reached, or does not answer in time, or when the API server does not show its token now.
	ReasonSinkUnavailable = "SinkUnavailable"
	// ReasonTokenMissing surfaces when the namespace of a suite does not let the operator read the token of a notification, or has none.
	ReasonTokenMissing = "TokenMissing"
)

// Reasons of Conclusive.
const (
	// ReasonTooFewBlocks surfaces when fewer than seven complete blocks were measured: they give a ratio and no verdict.
	ReasonTooFewBlocks = "TooFewBlocks"
	// ReasonNothingCounts surfaces when no cell and no case of the run counts.
	ReasonNothingCounts = "NothingCounts"
	// ReasonNothingToCompare surfaces when the run has only one contender.
	ReasonNothingToCompare = "NothingToCompare"
	// ReasonNoiseTooHigh surfaces when at least one comparison with enough blocks is Inconclusive because of noise alone.
	ReasonNoiseTooHigh = "NoiseTooHigh"
	// ReasonUndecided surfaces when at least one comparison is Inconclusive for another reason, which status.verdict names: a saturated
	// generator, a rate that neither side sustained, implementation failures.
	ReasonUndecided = "Undecided"
)

// Reasons of a Trial's conditions. Infrastructure failures are retried; implementation failures are not.
const (
	// ReasonImagePull surfaces when an image cannot be pulled.
	ReasonImagePull = "ImagePull"
	// ReasonObjectMissing surfaces when a ConfigMap or Secret that a run names, or a key of it, is not there.
	ReasonObjectMissing = "ObjectMissing"
	// ReasonObjectChanged surfaces when a ConfigMap that an implementation names is no longer what it was when the run started.
	ReasonObjectChanged = "ObjectChanged"
	// ReasonServerNotListening surfaces when the server does not listen on its port in time.
	ReasonServerNotListening = "ServerNotListening"
	// ReasonServerExited surfaces when the server's process ends before the trial does.
	ReasonServerExited = "ServerExited"
	// ReasonDependencyFailed surfaces when a dependency of the server does not get ready in time, or ends before the trial does.
	ReasonDependencyFailed = "DependencyFailed"
	// ReasonWrongResponse surfaces when the server's response differs from expect.
	ReasonWrongResponse = "WrongResponse"
	// ReasonProgramFailed surfaces when a program that measures itself ends with an exit code other than 0, or by a signal.
	ReasonProgramFailed = "ProgramFailed"
	// ReasonProgramTooLong surfaces when a program that measures itself takes longer than microbenchmark.limitSeconds.
	ReasonProgramTooLong = "ProgramTooLong"
	// ReasonOutputUnreadable surfaces when what a program has printed is not in the format that microbenchmark.format names.
	ReasonOutputUnreadable = "OutputUnreadable"
	// ReasonBuildMismatch surfaces when the server was not built as implementations[].build expects.
	ReasonBuildMismatch = "BuildMismatch"
	// ReasonLoadImpossible surfaces when a load cannot be made: its script fails, or it needs more than a generator has.
	ReasonLoadImpossible = "LoadImpossible"
	// ReasonUnschedulable surfaces when a pod of the trial finds no node in time, and while a run waits for the node to which it is bound.
	ReasonUnschedulable = "Unschedulable"
	// ReasonPodLost surfaces when a pod of the trial was refused, evicted, deleted or lost.
	ReasonPodLost = "PodLost"
	// ReasonAgentLost surfaces when an agent of the trial no longer answers.
	ReasonAgentLost = "AgentLost"
	// ReasonAgentFailed surfaces when an agent of the trial reports a failure.
	ReasonAgentFailed = "AgentFailed"
	// ReasonPodRejected surfaces when the API server refuses a pod of the trial.
	ReasonPodRejected = "PodRejected"
	// ReasonEnoughMeasured surfaces when the run ended before the trial, since its intervals were narrow enough.
	ReasonEnoughMeasured = "EnoughMeasured"
	// ReasonUploadFailed surfaces when artifacts could not be stored in time.
	ReasonUploadFailed = "UploadFailed"
)

// Names that the operator writes on the objects that it creates, and reads on nodes.
const (
	// LabelRunUID carries the UID of the BenchmarkRun on every object created for it.
	LabelRunUID = "loadstone.dev/run-uid"
	// LabelRun carries the name of the BenchmarkRun.
	LabelRun = "loadstone.dev/run"
	// LabelImplementation and LabelPeer carry the names of the implementations that a Trial measures, the second of a duet alone.
	LabelImplementation = "loadstone.dev/implementation"
	LabelPeer           = "loadstone.dev/peer"
	// LabelTrial carries the name of the Trial.
	LabelTrial = "loadstone.dev/trial"
	// LabelMember carries the name of the trial's member that a measured pod is, such as "server-0" or "generator-0".
	LabelMember = "loadstone.dev/member"
	// LabelAttempt carries the attempt of the Trial.
	LabelAttempt = "loadstone.dev/attempt"
	// LabelRole carries the purpose of a measured pod or of a node: RoleServer or RoleGenerator.
	LabelRole = "loadstone.dev/role"
	// TaintMeasure repels every pod but measured ones from the nodes that measure.
	TaintMeasure = "loadstone.dev/measure"
	// RoleServer is the value of LabelRole of pods that run implementations, and of the nodes for them.
	RoleServer = "server"
	// RoleGenerator is the value of LabelRole of pods that run load generators, and of the nodes for them.
	RoleGenerator = "generator"
	// LabelSuiteUID carries the UID of the BenchmarkSuite on each of its runs.
	LabelSuiteUID = "loadstone.dev/suite-uid"
	// LabelSuite carries the name of the BenchmarkSuite.
	LabelSuite = "loadstone.dev/suite"
	// LabelRound carries the number of the round that a run belongs to.
	LabelRound = "loadstone.dev/round"
	// AnnotationRound carries what else is to be known of the round that a run belongs to, as JSON. Its form is the operator's own.
	AnnotationRound = "loadstone.dev/round-record"
	// AnnotationRequestedAt starts a round of a BenchmarkSuite whenever its value changes.
	AnnotationRequestedAt = "loadstone.dev/requestedAt"
	// AnnotationReconcileAt is Flux' way to ask for the same.
	AnnotationReconcileAt = "reconcile.fluxcd.io/requestedAt"
	// AnnotationWebhook carries the newest request to a BenchmarkSuite that gives values, to its webhook or by hand, as JSON. Its form is the operator's own.
	AnnotationWebhook = "loadstone.dev/webhook"
	// Finalizer keeps a BenchmarkRun until its load has stopped and its objects in other namespaces are gone.
	Finalizer = "loadstone.dev/cleanup"
)
