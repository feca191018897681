package validity

// Code names a fault of a cell.
type Code string

const (
	// ToolFailed: a generator has no measurement. Detail is its error.
	ToolFailed Code = "ToolFailed"
	// GeneratorLost: a generator has no record of the cell. Subject says which.
	GeneratorLost Code = "GeneratorLost"
	// GeneratorLate: a generator was too late to begin the cell. Subject says which, Detail how late.
	GeneratorLate Code = "GeneratorLate"
	// ObserverFailed: the server was not fully observed. Detail is the observer's error.
	ObserverFailed Code = "ObserverFailed"
	// CPUUncounted: processes that could not be counted may do the server's work. Detail says which.
	CPUUncounted Code = "CPUUncounted"
	// NoRequests: no request was completed.
	NoRequests Code = "NoRequests"
	// CutShort: the load was shorter than planned. Value and Limit are shares of the planned time.
	CutShort Code = "CutShort"
	// TooShort: the load lasted less than a second. Value is in seconds.
	TooShort Code = "TooShort"
	// TooFewRequests: too few requests for a mean. Value is their number.
	TooFewRequests Code = "TooFewRequests"
	// RateMissed: the arrival rate was not sustained. Value is the share of arrivals not started; Subject is the
	// generator if one was busy, else the server.
	RateMissed Code = "RateMissed"
	// LittlesLaw: more requests were in flight than connections have streams, which is impossible. Value is the
	// quotient.
	LittlesLaw Code = "LittlesLaw"
	// QueueInGenerator: requests waited in a busy generator. Value is the share in flight that was nowhere else.
	QueueInGenerator Code = "QueueInGenerator"
	// FewerInFlight: fewer requests were in flight than planned. Value is their mean number, Limit the planned one.
	FewerInFlight Code = "FewerInFlight"
	// StartsApart: generators did not start together. Value is in milliseconds, with the clocks' error.
	StartsApart Code = "StartsApart"
	// WrongLabel: the tool ran other threads or connections than planned. Detail says which.
	WrongLabel Code = "WrongLabel"
	// WrongStatus: answers had an error status. Value is their number.
	WrongStatus Code = "WrongStatus"
	// WrongBody: the tool saw wrong bodies. Value is their number.
	WrongBody Code = "WrongBody"
	// WrongAnswers: an agent saw wrong answers during warm-up or measurement. Value is their number, Detail the first
	// one and its time.
	WrongAnswers Code = "WrongAnswers"
	// AuditFailed: an agent got no answer during warm-up or measurement. Value is the share of its requests.
	AuditFailed Code = "AuditFailed"
	// NotEquivalent: the answer differs from the baseline's. Detail says how, the baseline last.
	NotEquivalent Code = "NotEquivalent"
	// OtherMix: a mix's requests did not match their weights. Detail names one and its count.
	OtherMix Code = "OtherMix"
	// OtherProtocol: not all answers were in the HTTP/2 that the load asks for. Detail says how many were.
	OtherProtocol Code = "OtherProtocol"
	// Errors: requests failed. Value and Limit are shares of all requests.
	Errors Code = "Errors"
	// Starved: connections waited beyond the tool's timeout. Value is timeouts per request in flight.
	Starved Code = "Starved"
	// NotPinned: a process did not own its CPUs. Subject says which, Detail is its CPU list.
	NotPinned Code = "NotPinned"
	// SharedCPUs: server and generator were allowed on the same CPU. Detail is the generator's CPU list.
	SharedCPUs Code = "SharedCPUs"
	// GeneratorsShareCPUs: a generator was allowed on another one's CPU. Detail is its CPU list.
	GeneratorsShareCPUs Code = "GeneratorsShareCPUs"
	// NotTogether: the two servers of a duet were not on the same CPUs. Detail is the other's CPU list.
	NotTogether Code = "NotTogether"
	// GeneratorLimited: the generator had no CPU left and the server had. Value is the used share of its CPUs. It
	// replaces GeneratorBusy.
	GeneratorLimited Code = "GeneratorLimited"
	// GeneratorBusy: requests may have waited in the generator. Value is the used share of its CPUs.
	GeneratorBusy Code = "GeneratorBusy"
	// NoisyNeighbours: others ran on the server's CPUs. Value is their share of the time.
	NoisyNeighbours Code = "NoisyNeighbours"
	// Steal: the hypervisor took the server's CPUs. Value is the share of the time.
	Steal Code = "Steal"
	// DifferentMachine: the server or a generator had another machine or tool than in most trials. Subject says
	// which, Detail what differs.
	DifferentMachine Code = "DifferentMachine"
	// DifferentImage: the implementation ran from another image than in most trials. Detail is the digests.
	DifferentImage Code = "DifferentImage"
	// DifferentScript: a generator ran another script than the frozen one. Detail is the digests.
	DifferentScript Code = "DifferentScript"
	// Throttled: a CPU quota held the server back. Value is the share of the time.
	Throttled Code = "Throttled"
	// GeneratorThrottled: a CPU quota held a generator back. Value is the share of the time, Subject says which.
	GeneratorThrottled Code = "GeneratorThrottled"
	// CPUSlower: the server's CPU was slower after the cell. Value is how much longer the same work took.
	CPUSlower Code = "CPUSlower"
	// FrequencyFell: the server's CPU clock fell under load. Value is the share.
	FrequencyFell Code = "FrequencyFell"
	// NeighbourAsymmetry: other processes disturbed the implementations of a block differently. Value is the largest
	// difference.
	NeighbourAsymmetry Code = "NeighbourAsymmetry"
	// UtilisationLaw: the server used more CPU time than its CPUs were busy, which is impossible. Value is the
	// quotient.
	UtilisationLaw Code = "UtilisationLaw"
	// AgentBusy: an agent used the generator's CPUs. Value is its share of the CPU time.
	AgentBusy Code = "AgentBusy"
	// ObserverOnServer: the observer may run on the server's CPUs. Detail is its CPU list.
	ObserverOnServer Code = "ObserverOnServer"
	// Unanswered: the server never answered on some connections. Value is their share.
	Unanswered Code = "Unanswered"
	// Hung: the server stopped answering on some connections. Value is their share.
	Hung Code = "Hung"
	// QueueOverflows: connections found the server's accept queue full. Value is how often, per connection.
	QueueOverflows Code = "QueueOverflows"
	// HandshakesDropped: the server's kernel dropped handshakes for another reason. Value is how often, per
	// connection.
	HandshakesDropped Code = "HandshakesDropped"
	// SlowHandshakes: connections took a second or more to open. Value is resent handshakes per connection.
	SlowHandshakes Code = "SlowHandshakes"
	// Unfair: the server's connections got very different shares. Value is Jain's index.
	Unfair Code = "Unfair"
	// MissingConnections: fewer connections were open than planned. Value is their share.
	MissingConnections Code = "MissingConnections"
	// KeepAliveLost: connections did not stay open. Value is reopened ones per request.
	KeepAliveLost Code = "KeepAliveLost"
	// Retransmits: TCP segments were lost. Value is the resent share.
	Retransmits Code = "Retransmits"
	// PortsExhausted: a generator ran out of local ports. Value is the share in use.
	PortsExhausted Code = "PortsExhausted"
	// MemoryGrows: the server's memory grew steadily. Value is in bytes per request.
	MemoryGrows Code = "MemoryGrows"
	// WarmupNotOver: most cells of the group got faster, or slower, while measured. Value is the last third's speed
	// relative to the first's.
	WarmupNotOver Code = "WarmupNotOver"
	// SlowedDown: a single cell lost most of its speed half-way. Value is as for WarmupNotOver.
	SlowedDown Code = "SlowedDown"
	// AnswerSize: the tool read more or fewer bytes per answer than the check before the trial. Value is the share.
	AnswerSize Code = "AnswerSize"
	// UnequalAnswers: bytes per answer differ between the sides of a block by more than their checks. Value is the
	// contender's relative to the baseline's.
	UnequalAnswers Code = "UnequalAnswers"
	// RateExceeded: more requests were answered than the rate asked for, which is impossible. Value is the quotient.
	RateExceeded Code = "RateExceeded"
	// SharedCore: a generator was allowed on a hardware thread of the server's core. Detail is its CPU list.
	SharedCore Code = "SharedCore"
	// StoodStill: hardly an answer left the server for stretches of the load. Value is their share.
	StoodStill Code = "StoodStill"
	// NotChecked: checks lacked their evidence. Detail lists the missing evidence.
	NotChecked Code = "NotChecked"
)
