package conduct

import (
	"fmt"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/pick"
	"loadstone.dev/loadstone/internal/plan"
	"loadstone.dev/loadstone/internal/record"
)

// dependencyGrain is how exactly it is known how long a dependency has run.
const dependencyGrain = time.Second

// DependencyEnded is the failure of a dependency of a server that has ended: a dependency runs for the whole trial. One that does not listen on its
// port in time is ended; ready is true of one that has been ready. ran is how long it has run.
func DependencyEnded(server record.Implementation, name string, e Exit, ready bool, ran time.Duration) *Failure {
	field := fmt.Sprintf("implementations[%s].dependencies[%s]", server.Name, name)
	d := pick.First(server.Dependencies, func(d *record.Dependency) bool { return d.Name == name })
	failed := func(format string, args ...any) *Failure {
		return PermanentFailure(v1alpha1.ReasonDependencyFailed, field+format, args...)
	}
	if d == nil {
		return failed(" exited (%s)", e)
	}
	limit := d.Container.Readiness.Seconds
	switch {
	case e.OutOfMemory:
		return failed(" was killed because it exceeded its memory of %s: raise its memory", plan.Memory(d.MemoryBytes))
	case !ready && d.Port > 0 && ran+dependencyGrain >= time.Duration(limit)*time.Second:
		return failed(" was not ready on port %d within %d s of its start (%s): let it listen on all addresses, check its command, or give it longer with readiness.timeoutSeconds", d.Port, limit, e)
	case !ready:
		return failed(" exited before it was ready (%s): check its command, env and files", e)
	case e.Code == killed:
		return TransientFailure(v1alpha1.ReasonPodLost, "%s was killed by another process, and not for its memory (%s)", field, e)
	}
	return failed(" exited while its server was running (%s)", e)
}
