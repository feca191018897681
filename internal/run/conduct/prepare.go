package conduct

import (
	"fmt"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// Seen is a member of an attempt as its backend sees it.
type Seen struct {
	Agent string
	State protocol.State
	// Since is when the member's first process started.
	Since time.Time
	// Asked: the generator was asked for its check.
	Asked bool
}

// Preparation is a step before the start of an attempt.
type Preparation int

const (
	Prepared Preparation = iota
	// AwaitServer waits for a server.
	AwaitServer
	AskCheck
)

// Prepare returns the next step before the start, and the index of its server or generator. First every server must be ready and built as expected.
// Then every generator must send each request and have the resources for its part. A failure ends the attempt.
func (a Attempt) Prepare(t Trial, servers, generators []Seen) (next Preparation, of int, f *Failure) {
	for i, own := range a.Work.Servers() {
		s := servers[i]
		if !s.State.Listening {
			return AwaitServer, i, a.NotListening(own, s.Since, s.State)
		}
		if f = Built(own, s.State.Build); f != nil {
			return Prepared, i, f
		}
	}
	if a.Work.Check(nil, nil) == nil {
		return Prepared, 0, nil
	}
	for i, g := range generators {
		if g.State.Checked == nil && !g.Asked {
			return AskCheck, i, nil
		}
		if f = Checked(t, g.Agent, g.State.Checked); f != nil {
			return Prepared, i, f
		}
	}
	return Prepared, 0, nil
}

const (
	// dependencyGrain is the resolution of a dependency's run time.
	dependencyGrain = time.Second
	// probeSlack is how long a probe may take to end a dependency that is not ready in time.
	probeSlack = 10 * time.Second
)

// DependencyEnded is the failure of a dependency that ended, since it must run for the whole trial. One that does not
// open its port in time is ended. ready means that it was ready, ran is how long it ran.
func DependencyEnded(server record.Implementation, name string, e Exit, ready bool, ran time.Duration) *Failure {
	field := fmt.Sprintf("implementations[%s].dependencies[%s]", server.Name, name)
	d := util.First(server.Dependencies, func(d *record.Dependency) bool { return d.Name == name })
	failed := func(format string, args ...any) *Failure {
		return PermanentFailure(v1alpha1.ReasonDependencyFailed, field+format, args...)
	}
	if d == nil {
		return failed(" exited (%s)", e)
	}
	limit := time.Duration(d.Container.Readiness.Seconds) * time.Second
	switch {
	case e.OutOfMemory:
		return failed(" was killed because it exceeded its memory of %s: raise its memory", plan.Memory(d.MemoryBytes))
	case !ready && d.Port > 0 && ran+dependencyGrain >= limit && ran <= limit+probeSlack:
		return failed(" was not ready on port %d within %d s of its start (%s): check its command and that it listens on all addresses, or raise readiness.timeoutSeconds", d.Port, d.Container.Readiness.Seconds, e)
	case !ready:
		return failed(" exited before its server started (%s): check its command, env and files", e)
	case e.Code == killed:
		return TransientFailure(v1alpha1.ReasonPodLost, "another process killed %s; memory was not the cause (%s)", field, e)
	}
	return failed(" exited before its trial ended (%s)", e)
}

// Built is the failure of a server that was not built as expected. It is nil if it was, if the file does not show it, or if found is nil (unread).
func Built(server record.Implementation, found *record.Build) *Failure {
	if found == nil {
		return nil
	}
	for _, x := range found.Expected(server.Build) {
		if !x.Missed() {
			continue
		}
		way := "with it"
		if x.Want == record.ExpectForbidden {
			way = "without it"
		}
		return PermanentFailure(v1alpha1.ReasonBuildMismatch, "implementations[%s].build.%s: expected %s, found %s (%s): build the image %s, or remove the expectation",
			server.Name, x.Field, x.Want, x.Found.Is, x.Found.By, way)
	}
	return nil
}
