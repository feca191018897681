package conduct

import (
	"fmt"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
)

const (
	// dependencyGrain is how exactly it is known how long a dependency has run.
	dependencyGrain = time.Second
	// probeSlack is how much longer than it may a dependency runs that does not get ready, until its probe has ended it.
	probeSlack = 10 * time.Second
)

// DependencyEnded is the failure of a dependency of a server that has ended: a dependency runs for the whole trial. One that does not listen on its
// port in time is ended; ready is true of one that has been ready. ran is how long it has run.
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
		return failed(" was not ready on port %d within %d s of its start (%s): let it listen on all addresses, check its command, or give it longer with readiness.timeoutSeconds", d.Port, d.Container.Readiness.Seconds, e)
	case !ready:
		return failed(" exited before its server was started (%s): check its command, env and files", e)
	case e.Code == killed:
		return TransientFailure(v1alpha1.ReasonPodLost, "%s was killed by another process, and not for its memory (%s)", field, e)
	}
	return failed(" exited before its trial was over (%s)", e)
}
