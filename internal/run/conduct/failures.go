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

// Kind is whether a failure is retried. Package reason has the origin of each failure.
type Kind int

const (
	// Permanent failures are those of the implementation or of the spec. They are never retried.
	Permanent Kind = iota + 1
	// Transient failures are those of the infrastructure. They are retried a few times.
	Transient
	// Cancelled attempts ended because the run no longer needs them. They are not failures.
	Cancelled
)

// Failure is why an attempt ended without a manifest.
type Failure struct {
	Kind            Kind
	Reason, Message string
	// Unstarted is true if no agent had begun to work, however late that was seen: nothing was measured that another attempt would repeat.
	Unstarted bool
	// Waited is true if the attempt has only waited, for too long or for a name that another has: it counts as none.
	Waited bool
}

// PermanentFailure is a failure that every further attempt would repeat.
func PermanentFailure(reason, format string, args ...any) *Failure {
	return &Failure{Kind: Permanent, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// TransientFailure is a failure that another attempt may not meet.
func TransientFailure(reason, format string, args ...any) *Failure {
	return &Failure{Kind: Transient, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func cancelled(reason, format string, args ...any) *Failure {
	return &Failure{Kind: Cancelled, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// killed is the exit code of a process that SIGKILL has ended. A process that exceeds its memory is told apart, and none ends itself that way.
const killed = 128 + 9

// Exit is how a process of an attempt has exited.
type Exit struct {
	// Code is its exit code.
	Code int32
	// Reason is the system's word for it, such as "Error".
	Reason string
	// OutOfMemory is true if it was ended for using more memory than it may.
	OutOfMemory bool
	// LastWords are the part of its last output that is to be quoted.
	LastWords string
}

// String is what a message says of the exit.
func (e Exit) String() string {
	text := fmt.Sprintf("exit code %d, %s", e.Code, e.Reason)
	if e.LastWords != "" {
		text += fmt.Sprintf(", last output: %q", e.LastWords)
	}
	return text
}

// ServerExited is the failure of a measured process that ended before the trial did; nil if it has done its work, and ends itself.
func ServerExited(w kind.Work, server record.Implementation, e Exit) *Failure {
	if w.EndsItself() && e.Code == 0 {
		return nil
	}
	why := endReason(w)
	if e.OutOfMemory {
		return PermanentFailure(why, "implementations[%s] was killed because it exceeded its memory of %s: raise implementations[].memory", server.Name, memoryOf(w, server))
	}
	if e.Code == killed {
		return TransientFailure(v1alpha1.ReasonPodLost, "implementations[%s] was killed by another process, and not for its memory (%s)", server.Name, e)
	}
	return PermanentFailure(why, "implementations[%s] exited (%s)", server.Name, e)
}

// memoryOf is the memory that the container of a server has, with the server's own share of it where its profiler has one, too.
func memoryOf(w kind.Work, server record.Implementation) string {
	own := plan.Memory(server.MemoryBytes)
	for _, m := range w.Members() {
		for _, p := range m.Processes {
			if p.Toolbox && p.MemoryBytes > server.MemoryBytes {
				return fmt.Sprintf("%s, of which %s are its own and the rest is for its profiler", plan.Memory(p.MemoryBytes), own)
			}
		}
	}
	return own
}

// DiskFull is the failure of a measured process, or of a dependency of it that is named, that has written more than it may; said is the system's
// word for it.
func DiskFull(w kind.Work, server record.Implementation, dependency, said string) *Failure {
	said = strings.TrimSpace(said)
	if dependency != "" {
		return PermanentFailure(v1alpha1.ReasonDependencyFailed, "implementations[%s].dependencies[%s] was ended because it filled its scratch: write less, or raise its size: %s", server.Name, dependency, said)
	}
	who := ""
	if len(server.Dependencies) > 0 && strings.Contains(said, "total limit of containers") {
		who = ", or its dependencies did"
	}
	return PermanentFailure(endReason(w), "implementations[%s] was ended because it filled its disk%s: write or print less, or raise the size of its scratch: %s", server.Name, who, said)
}

// endReason is the reason of a measured process that has ended as it should not.
func endReason(w kind.Work) string {
	if w.EndsItself() {
		return v1alpha1.ReasonProgramFailed
	}
	return v1alpha1.ReasonServerExited
}

// AgentExited is the failure of an agent that ended before the trial did; agent says which.
func AgentExited(agent string, e Exit) *Failure {
	return TransientFailure(v1alpha1.ReasonAgentLost, "%s exited (%s)", agent, e)
}

// programReasons are the reasons of a program's own failures.
var programReasons = map[protocol.Fault]string{
	protocol.FaultExit:   v1alpha1.ReasonProgramFailed,
	protocol.FaultLimit:  v1alpha1.ReasonProgramTimedOut,
	protocol.FaultOutput: v1alpha1.ReasonOutputUnreadable,
}

// AgentFailed is the failure of an agent of a trial that says that it cannot do its work, or that the program which it has run has failed; nil
// if it does not say so.
func AgentFailed(t Trial, agent string, s protocol.State) *Failure {
	if s.Phase != protocol.Failed {
		return nil
	}
	if f := ProgramFailed(t, s, nil); f != nil {
		return f
	}
	return TransientFailure(v1alpha1.ReasonAgentFailed, "%s: %s", agent, s.Message)
}

// ProgramFailed is the failure of a program that measures itself, of which an agent has stored what it printed under some keys; nil if it has not
// failed.
func ProgramFailed(t Trial, s protocol.State, keys []string) *Failure {
	if s.Program == nil || programReasons[s.Program.Fault] == "" {
		return nil
	}
	stored := ""
	if len(keys) > 0 {
		stored = "; what it printed is stored as " + strings.Join(keys, " and ")
	}
	return PermanentFailure(programReasons[s.Program.Fault], "implementations[%s]: %s%s", t.Servers[0], s.Program.Message, stored)
}

// OperatorFailed is the failure of an attempt at which the operator itself has failed.
func OperatorFailed(err error) *Failure {
	return TransientFailure(v1alpha1.ReasonOperatorFailed, "%s", err)
}

// AgentRefused is the failure of an agent that has refused what it was asked, and would again.
func AgentRefused(agent string, answer error) *Failure {
	return TransientFailure(v1alpha1.ReasonAgentFailed, "%s %s", agent, answer)
}

// Checked is what a generator's check, which has been asked of an agent, shows of a trial; nil if all is well.
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
		return TransientFailure(v1alpha1.ReasonAgentFailed, "%s does not reach implementations[%s], which listens: %s: is there a NetworkPolicy or a firewall between them?", agent, server, c.Message)
	}
	if c.Fault == protocol.FaultTLS {
		return PermanentFailure(v1alpha1.ReasonWrongResponse, "implementations[%s]: %s", server, c.Message)
	}
	return PermanentFailure(v1alpha1.ReasonWrongResponse, "implementations[%s]: %s: correct the server, or request and expect of the load", server, c.Message)
}
