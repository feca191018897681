package conduct

import (
	"fmt"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// Kind is whether a failure is retried. The API's reasons have origins.
type Kind int

const (
	// Permanent failures are the implementation's or the spec's, and never retried.
	Permanent Kind = iota + 1
	// Transient failures are the infrastructure's, and retried a few times.
	Transient
	// Cancelled attempts are no longer needed. They are not failures.
	Cancelled
)

// Failure is why an attempt ended without a manifest.
type Failure struct {
	Kind            Kind
	Reason, Message string
	// Unstarted: no agent had begun, so another attempt repeats no measurement.
	Unstarted bool
	// Waited: the attempt only waited, too long or for a taken name. It does not count.
	Waited bool
}

// PermanentFailure is a failure that every attempt would repeat.
func PermanentFailure(reason, format string, args ...any) *Failure {
	return &Failure{Kind: Permanent, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// TransientFailure is a failure that another attempt may avoid.
func TransientFailure(reason, format string, args ...any) *Failure {
	return &Failure{Kind: Transient, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func cancelled(reason, format string, args ...any) *Failure {
	return &Failure{Kind: Cancelled, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// killed is the exit code after SIGKILL. Out of memory is detected separately, and no process ends itself this way.
const killed = 128 + 9

// Exit is how a process of an attempt exited.
type Exit struct {
	Code int32
	// Reason is the system's word, such as "Error".
	Reason string
	// OutOfMemory: it exceeded its memory.
	OutOfMemory bool
	// LastWords are the quotable end of its output.
	LastWords string
}

// String describes the exit.
func (e Exit) String() string {
	text := fmt.Sprintf("exit code %d, %s", e.Code, e.Reason)
	if e.LastWords != "" {
		text += fmt.Sprintf(", last output: %q", e.LastWords)
	}
	return text
}

// ServerExited is the failure of a measured process that ended before its trial; nil if it ends itself and did its
// work.
func ServerExited(w kind.Work, server record.Implementation, e Exit) *Failure {
	if w.EndsItself() && e.Code == 0 {
		return nil
	}
	why := endReason(w)
	if e.OutOfMemory {
		return PermanentFailure(why, "implementations[%s] was killed because it exceeded its memory of %s: raise implementations[].memory", server.Name, memoryOf(w, server))
	}
	if e.Code == killed {
		return TransientFailure(v1alpha1.ReasonPodLost, "another process killed implementations[%s]; memory was not the cause (%s)", server.Name, e)
	}
	return PermanentFailure(why, "implementations[%s] exited (%s)", server.Name, e)
}

func memoryOf(w kind.Work, server record.Implementation) string {
	own := plan.Memory(server.MemoryBytes)
	for _, m := range w.Members() {
		for _, p := range m.Processes {
			if p.Toolbox && p.MemoryBytes > server.MemoryBytes {
				return fmt.Sprintf("%s (%s for the server, the rest for its profiler)", plan.Memory(p.MemoryBytes), own)
			}
		}
	}
	return own
}

// DiskFull is the failure of a measured process, or its named dependency, that wrote more than allowed; said is the
// system's message.
func DiskFull(w kind.Work, server record.Implementation, dependency, said string) *Failure {
	said = strings.TrimSpace(said)
	if dependency != "" {
		return PermanentFailure(v1alpha1.ReasonDependencyFailed, "implementations[%s].dependencies[%s] was evicted because it filled its scratch: write less, or raise its size: %s", server.Name, dependency, said)
	}
	who := ""
	if len(server.Dependencies) > 0 && strings.Contains(said, "total limit of containers") {
		who = ", or its dependencies did"
	}
	return PermanentFailure(endReason(w), "implementations[%s] was evicted because it filled its disk%s: write or print less, or raise the size of its scratch: %s", server.Name, who, said)
}

func endReason(w kind.Work) string {
	if w.EndsItself() {
		return v1alpha1.ReasonProgramFailed
	}
	return v1alpha1.ReasonServerExited
}

// AgentExited is the failure of an agent that ended before its trial.
func AgentExited(agent string, e Exit) *Failure {
	return TransientFailure(v1alpha1.ReasonAgentLost, "%s exited (%s)", agent, e)
}

var programReasons = map[protocol.Fault]string{
	protocol.FaultExit:   v1alpha1.ReasonProgramFailed,
	protocol.FaultLimit:  v1alpha1.ReasonProgramTimedOut,
	protocol.FaultOutput: v1alpha1.ReasonOutputUnreadable,
}

// AgentFailed is the failure of an agent that reports it, or whose program failed; nil otherwise.
func AgentFailed(t Trial, agent string, s protocol.State) *Failure {
	if s.Phase != protocol.Failed {
		return nil
	}
	if f := ProgramFailed(t, s, nil); f != nil {
		return f
	}
	return TransientFailure(v1alpha1.ReasonAgentFailed, "%s: %s", agent, s.Message)
}

// ProgramFailed is the failure of a program that measures itself; keys are its stored outputs. Nil if it did not
// fail.
func ProgramFailed(t Trial, s protocol.State, keys []string) *Failure {
	if s.Program == nil || programReasons[s.Program.Fault] == "" {
		return nil
	}
	stored := ""
	if len(keys) > 0 {
		stored = "; its output is stored as " + strings.Join(keys, " and ")
	}
	return PermanentFailure(programReasons[s.Program.Fault], "implementations[%s]: %s%s", t.Servers[0], s.Program.Message, stored)
}

// OperatorFailed is a failure of the operator itself.
func OperatorFailed(err error) *Failure {
	return TransientFailure(v1alpha1.ReasonOperatorFailed, "%s", err)
}

// FilesChanged is the failure of agents that announced other files before.
func FilesChanged() *Failure {
	return TransientFailure(v1alpha1.ReasonAgentFailed, "the trial's agents announced other files than at first: nothing but Loadstone's agent may answer at their address")
}

// AgentRefused is the failure of an agent that refuses a request for good.
func AgentRefused(agent string, answer error) *Failure {
	return TransientFailure(v1alpha1.ReasonAgentFailed, "%s %s", agent, answer)
}

// Checked is the failure that a generator's check shows; nil if all is well.
func Checked(t Trial, agent string, c *protocol.Checked) *Failure {
	switch {
	case c == nil:
		return TransientFailure(v1alpha1.ReasonAgentFailed, "%s accepted a preflight check but reported no result", agent)
	case c.OK():
		return nil
	}
	if c.Fault == protocol.FaultLoad {
		return PermanentFailure(v1alpha1.ReasonLoadImpossible, "%s", c.Message)
	}
	server := t.Servers[min(max(c.Server, 0), len(t.Servers)-1)]
	if c.Fault == protocol.FaultNetwork {
		return TransientFailure(v1alpha1.ReasonAgentFailed, "%s cannot reach implementations[%s], which listens: %s: check for a NetworkPolicy or firewall between them", agent, server, c.Message)
	}
	if c.Fault == protocol.FaultTLS {
		return PermanentFailure(v1alpha1.ReasonWrongResponse, "implementations[%s]: %s", server, c.Message)
	}
	return PermanentFailure(v1alpha1.ReasonWrongResponse, "implementations[%s]: %s: correct the server, or request and expect of the load", server, c.Message)
}
