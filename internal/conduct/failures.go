package conduct

import (
	"fmt"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/plan"
	"loadstone.dev/loadstone/internal/protocol"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/work"
)

// Kind says whether another attempt may be spared the failure of one. Of whose making a reason is, package reason says.
type Kind int

const (
	// Implementation failures are the implementation's, or of what the spec says of it. They are never tried again.
	Implementation Kind = iota + 1
	// Infrastructure failures came from outside. They are tried again, a few times.
	Infrastructure
	// Cancelled attempts ended since the run needs them no longer, and are nobody's failure.
	Cancelled
)

// Failure is why an attempt ended without a manifest.
type Failure struct {
	Kind            Kind
	Reason, Message string
}

// ImplementationFailure is a failure that every further attempt would show again.
func ImplementationFailure(reason, format string, args ...any) *Failure {
	return &Failure{Kind: Implementation, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// InfrastructureFailure is a failure that another attempt may be spared.
func InfrastructureFailure(reason, format string, args ...any) *Failure {
	return &Failure{Kind: Infrastructure, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func cancelled(reason, format string, args ...any) *Failure {
	return &Failure{Kind: Cancelled, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Exit is how a process of an attempt has ended by itself.
type Exit struct {
	// Code is its exit code.
	Code int32
	// Reason is the system's word for it, such as "Error".
	Reason string
	// OutOfMemory is true if it was ended for using more memory than it may.
	OutOfMemory bool
	// LastWords are what it said before it ended, as far as they are to be quoted.
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
func ServerExited(w work.Work, server record.Implementation, e Exit) *Failure {
	if w.EndsItself() && e.Code == 0 {
		return nil
	}
	if e.OutOfMemory {
		return ImplementationFailure(v1alpha1.ReasonServerExited, "implementations[%s] was killed because it exceeded its memory of %s: raise implementations[].memory", server.Name, plan.Memory(server.MemoryBytes))
	}
	return ImplementationFailure(v1alpha1.ReasonServerExited, "implementations[%s] exited (%s)", server.Name, e)
}

// AgentExited is the failure of an agent that ended before the trial did; agent says which.
func AgentExited(agent string, e Exit) *Failure {
	return InfrastructureFailure(v1alpha1.ReasonAgentLost, "%s exited (%s)", agent, e)
}

// AgentFailed is the failure of an agent that says that it cannot do its work; nil if it does not say so.
func AgentFailed(agent string, s protocol.State) *Failure {
	if s.Phase != protocol.Failed {
		return nil
	}
	return InfrastructureFailure(v1alpha1.ReasonAgentFailed, "%s: %s", agent, s.Message)
}

// Checked is what a generator's check, which has been made, shows of a trial; nil if all is well.
func Checked(t Trial, c protocol.Checked) *Failure {
	if c.OK() {
		return nil
	}
	if c.Fault == protocol.FaultLoad {
		return ImplementationFailure(v1alpha1.ReasonLoadImpossible, "%s", c.Message)
	}
	server := t.Servers[min(max(c.Server, 0), len(t.Servers)-1)]
	return ImplementationFailure(v1alpha1.ReasonWrongResponse, "implementations[%s]: %s: correct the server, or request and expect of the load", server, c.Message)
}
