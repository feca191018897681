package v1alpha1

// Conditions of a BenchmarkRun. All are present from the first visit on, as Unknown.
const (
	// ConditionPlanned is True when the spec was compiled into a plan that this cluster can run.
	ConditionPlanned = "Planned"
	// ConditionExecuted is True when every trial of the plan has ended.
	ConditionExecuted = "Executed"
	// ConditionReported is True when the report is in the object store.
	ConditionReported = "Reported"
	// ConditionConclusive is True when every comparison of the run has a verdict.
	ConditionConclusive = "Conclusive"
	// ConditionSucceeded is the summary: True when all was measured and reported and every objective is met, False when the run
	// ended otherwise, Unknown while it goes on.
	ConditionSucceeded = "Succeeded"
	// ConditionReconciling is kstatus' word for "not there yet": True while the run goes on.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is kstatus' word for "will not get there": True when the run has failed for good.
	ConditionStalled = "Stalled"
)

// Conditions of a Trial, beside Succeeded.
const (
	// ConditionPrepared is True when the server listens, has answered as expected, and the generators are ready.
	ConditionPrepared = "Prepared"
	// ConditionMeasured is True when the last cell has ended.
	ConditionMeasured = "Measured"
	// ConditionStored is True when all artifacts and then the manifest are in the object store.
	ConditionStored = "Stored"
)

// Reasons that several conditions share.
const (
	// ReasonPending surfaces when an earlier step has to end first.
	ReasonPending = "Pending"
	// ReasonDone surfaces when a step has ended well.
	ReasonDone = "Done"
	// ReasonInProgress surfaces when a step goes on.
	ReasonInProgress = "InProgress"
	// ReasonDeleted surfaces when the object is being deleted.
	ReasonDeleted = "Deleted"
	// ReasonTimedOut surfaces when a run has used up its timeoutSeconds.
	ReasonTimedOut = "TimedOut"
)

// Reasons of Planned.
const (
	// ReasonInvalidSpec surfaces when the spec asks for something that cannot be.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonNotEnoughCPUs surfaces when no node can give a pod as many exclusive CPUs as the spec asks for.
	ReasonNotEnoughCPUs = "NotEnoughCPUs"
	// ReasonStoreUnavailable surfaces when the object store cannot be reached, or refuses the bucket or the key.
	ReasonStoreUnavailable = "StoreUnavailable"
)

// Reasons of Executed.
const (
	// ReasonQueued surfaces when another run of the installation measures: two would disturb each other.
	ReasonQueued = "Queued"
	// ReasonTrialsFailed surfaces when at least one trial has failed for good: one that was lost counts if too few blocks are without any.
	ReasonTrialsFailed = "TrialsFailed"
	// ReasonWorkflowFailed surfaces when the workflow has ended before its trials.
	ReasonWorkflowFailed = "WorkflowFailed"
	// ReasonWorkflowEngineDown surfaces when Argo has not picked up the workflow within a minute.
	ReasonWorkflowEngineDown = "WorkflowEngineDown"
)

// Reasons of Reported.
const (
	// ReasonReportFailed surfaces when the report could not be made or stored.
	ReasonReportFailed = "ReportFailed"
)

// Reasons of Succeeded, of a run that was measured and reported.
const (
	// ReasonObjectivesMissed surfaces when a figure lies on the wrong side of its objective.
	ReasonObjectivesMissed = "ObjectivesMissed"
	// ReasonObjectivesUndecided surfaces when no objective is missed, and at least one could not be decided. Succeeded is then False
	// and not Unknown: the run is over, nothing will come after, and a gate that nobody can vouch for must not open.
	ReasonObjectivesUndecided = "ObjectivesUndecided"
)

// Reasons of Conclusive.
const (
	// ReasonTooFewBlocks surfaces when fewer than seven complete blocks were measured: a ratio, but no verdict.
	ReasonTooFewBlocks = "TooFewBlocks"
	// ReasonNothingToCompare surfaces when a run has one contender only.
	ReasonNothingToCompare = "NothingToCompare"
	// ReasonNoiseTooHigh surfaces when at least one comparison is Inconclusive in spite of blocks enough, and noise alone is why.
	ReasonNoiseTooHigh = "NoiseTooHigh"
	// ReasonUndecided surfaces when at least one comparison is Inconclusive for another reason, which its sentence in status.verdict
	// says: a generator that was the limit, a rate that neither side kept, failures of the implementation.
	ReasonUndecided = "Undecided"
)

// Reasons of a Trial's conditions. Those of the implementation's own making are never tried again.
const (
	// ReasonImagePull surfaces when an image cannot be pulled.
	ReasonImagePull = "ImagePull"
	// ReasonServerNotListening surfaces when the server does not listen on its port in time.
	ReasonServerNotListening = "ServerNotListening"
	// ReasonServerExited surfaces when the server's process ends before the trial does.
	ReasonServerExited = "ServerExited"
	// ReasonWrongResponse surfaces when the server's answer is not what expect says.
	ReasonWrongResponse = "WrongResponse"
	// ReasonLoadImpossible surfaces when a load cannot be made: its script does not work, or it asks for more than a generator has.
	ReasonLoadImpossible = "LoadImpossible"
	// ReasonUnschedulable surfaces when a pod of the trial finds no node in time.
	ReasonUnschedulable = "Unschedulable"
	// ReasonPodLost surfaces when a pod of the trial was refused, evicted, deleted or lost.
	ReasonPodLost = "PodLost"
	// ReasonAgentLost surfaces when an agent of the trial no longer answers.
	ReasonAgentLost = "AgentLost"
	// ReasonAgentFailed surfaces when an agent of the trial says that it could not do its work.
	ReasonAgentFailed = "AgentFailed"
	// ReasonPodRejected surfaces when the API server refuses a pod of the trial.
	ReasonPodRejected = "PodRejected"
	// ReasonEnoughMeasured surfaces when the run stopped before the trial, since its intervals were narrow enough.
	ReasonEnoughMeasured = "EnoughMeasured"
	// ReasonUploadFailed surfaces when artifacts could not be stored in time.
	ReasonUploadFailed = "UploadFailed"
)

// Names that the operator writes on the objects that it makes, and reads on nodes.
const (
	// LabelRunUID carries the UID of the BenchmarkRun on everything made for it.
	LabelRunUID = "loadstone.dev/run-uid"
	// LabelRun carries the name of the BenchmarkRun.
	LabelRun = "loadstone.dev/run"
	// LabelTrial carries the name of the Trial.
	LabelTrial = "loadstone.dev/trial"
	// LabelMember carries the role of a measured pod's agent, such as "server" or "generator-0".
	LabelMember = "loadstone.dev/member"
	// LabelAttempt carries the attempt of the Trial.
	LabelAttempt = "loadstone.dev/attempt"
	// LabelRole says what a measured pod, or a node, is for: see RoleServer and RoleGenerator.
	LabelRole = "loadstone.dev/role"
	// TaintMeasure keeps everything but measured pods off the nodes that measure.
	TaintMeasure = "loadstone.dev/measure"
	// RoleServer is the value of LabelRole of pods that run implementations, and of the nodes meant for them.
	RoleServer = "server"
	// RoleGenerator is the value of LabelRole of pods that run load generators, and of the nodes meant for them.
	RoleGenerator = "generator"
	// Finalizer holds a BenchmarkRun until its load has stopped and its objects in other namespaces are gone.
	Finalizer = "loadstone.dev/cleanup"
)
