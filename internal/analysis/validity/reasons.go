package validity

// Code names what is wrong with a cell.
type Code string

const (
	// ToolFailed means that a generator has no measurement; Detail is its error.
	ToolFailed Code = "ToolFailed"
	// GeneratorLost means that a generator has no record of the cell at all; Subject says which.
	GeneratorLost Code = "GeneratorLost"
	// GeneratorLate means that a generator was too late to begin the cell; Subject says which, Detail how late it was.
	GeneratorLate Code = "GeneratorLate"
	// ObserverFailed means that the server was not or not wholly observed; Detail is the observer's error.
	ObserverFailed Code = "ObserverFailed"
	// NoRequests means that not one request was completed.
	NoRequests Code = "NoRequests"
	// CutShort means that the load lasted less than planned; Value and Limit are shares of the planned time.
	CutShort Code = "CutShort"
	// TooShort means that the load lasted less than a second; Value is in seconds.
	TooShort Code = "TooShort"
	// TooFewRequests means that a mean over so few requests says little; Value is their number.
	TooFewRequests Code = "TooFewRequests"
	// RateMissed means that the arrival rate was not sustained; Value is the share of the arrivals that were not started, Subject is the
	// generator if one was busy, and otherwise the server.
	RateMissed Code = "RateMissed"
	// LittlesLaw means that more requests were in flight than connections have streams, which cannot be; Value is the quotient.
	LittlesLaw Code = "LittlesLaw"
	// QueueInGenerator means that requests waited in a busy generator; Value is the share of those in flight that were nowhere else.
	QueueInGenerator Code = "QueueInGenerator"
	// FewerInFlight means that fewer requests were in flight than connections have streams; Value is their mean number, Limit how many the
	// load asks for.
	FewerInFlight Code = "FewerInFlight"
	// StartsApart means that generators did not start at one instant; Value is in milliseconds, the error of the clocks included.
	StartsApart Code = "StartsApart"
	// WrongLabel means that the tool ran other threads or connections than planned; Detail says which.
	WrongLabel Code = "WrongLabel"
	// WrongStatus means that the server answered with an error status; Value is the number of such answers.
	WrongStatus Code = "WrongStatus"
	// WrongBody means that the tool saw wrong bodies; Value is their number.
	WrongBody Code = "WrongBody"
	// WrongAnswers means that an agent saw wrong answers while the tool warmed up or was measured; Value is their number, Detail the first
	// of them, and when it was.
	WrongAnswers Code = "WrongAnswers"
	// AuditFailed means that an agent got no answer while the tool warmed up or was measured; Value is the share of its requests.
	AuditFailed Code = "AuditFailed"
	// NotEquivalent means that the server answers otherwise than the baseline; Detail says how, the baseline last.
	NotEquivalent Code = "NotEquivalent"
	// OtherMix means that the requests of a mix were not made in the proportions of their weights; Detail names one, and how often it was made.
	OtherMix Code = "OtherMix"
	// OtherProtocol means that not all answers were in HTTP/2, in which the load asks; Detail says how many were.
	OtherProtocol Code = "OtherProtocol"
	// Errors means that requests failed; Value and Limit are shares of all requests.
	Errors Code = "Errors"
	// Starved means that connections were left waiting beyond the tool's timeout; Value is timeouts per request in flight.
	Starved Code = "Starved"
	// NotPinned means that a process did not own its CPUs; Subject says whose, Detail is its CPU list.
	NotPinned Code = "NotPinned"
	// SharedCPUs means that server and generator were allowed on the same CPU; Detail is the generator's CPU list.
	SharedCPUs Code = "SharedCPUs"
	// GeneratorsShareCPUs means that a generator was allowed on another one's CPU; Detail is its CPU list.
	GeneratorsShareCPUs Code = "GeneratorsShareCPUs"
	// NotTogether means that the two servers of a duet were not on the same CPUs; Detail is the other's CPU list.
	NotTogether Code = "NotTogether"
	// GeneratorLimited means that the generator had no CPU left and the server had; Value is the share of its CPUs that was taken. It
	// implies GeneratorBusy, which is then not said as well.
	GeneratorLimited Code = "GeneratorLimited"
	// GeneratorBusy means that requests may have waited in the generator; Value is the share of its CPUs that was taken.
	GeneratorBusy Code = "GeneratorBusy"
	// NoisyNeighbours means that others ran on the server's CPUs; Value is their share of the time.
	NoisyNeighbours Code = "NoisyNeighbours"
	// Steal means that the hypervisor took the server's CPUs away; Value is the share of the time.
	Steal Code = "Steal"
	// DifferentMachine means that the server or a generator was not on the machine, or not with the tool, of most trials; Subject says
	// which, Detail what differs.
	DifferentMachine Code = "DifferentMachine"
	// DifferentImage means that the implementation ran from another image than in most of its trials; Detail is the digests.
	DifferentImage Code = "DifferentImage"
	// DifferentScript means that a generator ran another script than the one that the run froze at its start; Detail is the digests.
	DifferentScript Code = "DifferentScript"
	// Throttled means that a CPU quota held the server back; Value is the share of the time.
	Throttled Code = "Throttled"
	// GeneratorThrottled means that a CPU quota held a generator back; Value is the share of the time, Subject says which.
	GeneratorThrottled Code = "GeneratorThrottled"
	// CPUSlower means that the server's CPU was slower after the cell than before; Value is by how much the same work took longer.
	CPUSlower Code = "CPUSlower"
	// FrequencyFell means that the server's CPU slowed down its clock under load; Value is by which share.
	FrequencyFell Code = "FrequencyFell"
	// NeighbourAsymmetry means that other processes disturbed the implementations of a block differently; Value is the largest difference.
	NeighbourAsymmetry Code = "NeighbourAsymmetry"
	// UtilisationLaw means that the server used more CPU time than its CPUs were busy, which cannot be; Value is the quotient.
	UtilisationLaw Code = "UtilisationLaw"
	// AgentBusy means that an agent used the generator's CPUs; Value is its share of the CPU time.
	AgentBusy Code = "AgentBusy"
	// ObserverOnServer means that the observer may run on the server's own CPUs; Detail is its CPU list.
	ObserverOnServer Code = "ObserverOnServer"
	// Unanswered means that the server has never answered on some connections; Value is their share.
	Unanswered Code = "Unanswered"
	// Hung means that the server stopped answering on some connections which it had answered before; Value is their share.
	Hung Code = "Hung"
	// QueueOverflows means that connections found the server's queue of new connections full; Value is how often, for each connection.
	QueueOverflows Code = "QueueOverflows"
	// HandshakesDropped means that the server's kernel dropped handshakes for another reason; Value is how often, for each connection.
	HandshakesDropped Code = "HandshakesDropped"
	// SlowHandshakes means that connections took a second or more to open; Value is the handshakes sent again, for each connection.
	SlowHandshakes Code = "SlowHandshakes"
	// Unfair means that the server's connections got very different shares; Value is Jain's index.
	Unfair Code = "Unfair"
	// MissingConnections means that fewer connections were open than planned; Value is their share.
	MissingConnections Code = "MissingConnections"
	// KeepAliveLost means that connections did not stay open; Value is those opened anew for each request.
	KeepAliveLost Code = "KeepAliveLost"
	// Retransmits means that TCP segments were lost; Value is the share that was sent again.
	Retransmits Code = "Retransmits"
	// PortsExhausted means that a generator had hardly a local port left; Value is the share of the ports in use.
	PortsExhausted Code = "PortsExhausted"
	// MemoryGrows means that the server's memory grew steadily; Value is in bytes a request.
	MemoryGrows Code = "MemoryGrows"
	// WarmupNotOver means that most cells of the group got faster, or slower, while they were measured; Value is the last third's
	// speed in units of the first's.
	WarmupNotOver Code = "WarmupNotOver"
	// SlowedDown means that a single cell lost most of its speed half-way; Value is as of WarmupNotOver.
	SlowedDown Code = "SlowedDown"
	// AnswerSize means that the tool read more or fewer bytes for each answer than the check before the trial; Value is the share.
	AnswerSize Code = "AnswerSize"
	// UnequalAnswers means that the bytes for each answer differ between the sides of a block by more than their checks; Value is the
	// contender's in units of the baseline's.
	UnequalAnswers Code = "UnequalAnswers"
	// RateExceeded means that more requests were answered than the rate asked for, which cannot be; Value is the quotient.
	RateExceeded Code = "RateExceeded"
	// SharedCore means that a generator was allowed on a hardware thread of the server's core; Detail is the generator's CPU list.
	SharedCore Code = "SharedCore"
	// StoodStill means that hardly an answer left the server for stretches of the load; Value is their share of it.
	StoodStill Code = "StoodStill"
	// NotChecked means that checks could not look; Detail lists what they had nothing to look at.
	NotChecked Code = "NotChecked"
)
