package conduct

import (
	"fmt"
	"slices"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// Deadlines of a trial. Each counts from an instant that its backend recorded.
const (
	// PrepareDeadline bounds the time from an attempt's begin until its agents answer and, without more patience, its
	// members run.
	PrepareDeadline = 3 * time.Minute
	// ListenDeadline bounds the time from a server's start until it is ready, unless its plan says otherwise, and
	// from a program's start until its parent is.
	ListenDeadline = record.ReadySeconds * time.Second
	// ReadDeadline is how much longer an observer may take to read a ready server.
	ReadDeadline = 30 * time.Second
	// StartLead is the least time between recording the start and the first request, so that all agents get it in
	// turn. leadPerMember is the time per member of a large trial. Further attempts multiply it by leadGrowth, since
	// the start may have been missed.
	StartLead     = 250 * time.Millisecond
	leadPerMember = 50 * time.Millisecond
	leadGrowth    = 4
	// AgentGrace is how long after the last cell an agent may be busy.
	AgentGrace = 30 * time.Second
	// StoreDeadline bounds the time from the last cell until everything is stored, without more patience.
	StoreDeadline = 10 * time.Minute
)

// PrepareLeft returns how long the attempt's members may still take to run; not positive if too long.
func (a Attempt) PrepareLeft() time.Duration { return a.Begun.Add(a.PrepareLimit()).Sub(a.Now) }

// PrepareLimit returns how long the members may take to run: a pull may be long, and shows no progress.
func (a Attempt) PrepareLimit() time.Duration {
	return max(PrepareDeadline, a.Patience) + a.dependencies()
}

func (a Attempt) dependencies() time.Duration {
	var most int32
	for _, s := range a.Work.Servers() {
		most = max(most, s.DependencySeconds())
	}
	return time.Duration(most) * time.Second
}

// AgentSilent is the failure of an agent that does not answer although its pod runs; nil while it may yet. After the
// last cell it has the store's time, since one network failure often affects both.
func (a Attempt) AgentSilent(agent string, err error) *Failure {
	deadline := a.Begun.Add(PrepareDeadline + a.dependencies() + a.readiness())
	if end := a.End(); !end.IsZero() {
		deadline = end.Add(a.storeLimit())
	}
	if !a.Now.After(deadline) {
		return nil
	}
	return TransientFailure(v1alpha1.ReasonAgentLost, "%s is not responding: %s", agent, err)
}

func (a Attempt) readiness() time.Duration {
	var most time.Duration
	for _, s := range a.Work.Servers() {
		most = max(most, s.Container.Readiness.Limit()-ListenDeadline)
	}
	return most
}

// NotListening is the failure of a server that does not open its port in time, a program without its parent, or a silent observer; nil while they
// have time. since is by the clock of the observer, whose state this is; the backend's clock may differ.
func (a Attempt) NotListening(server record.Implementation, since time.Time, state protocol.State) *Failure {
	deadline := ListenDeadline
	if !a.Work.EndsItself() {
		deadline = server.Container.Readiness.Limit()
	}
	ran := a.Now.Sub(since)
	if !state.Now.IsZero() {
		ran = state.Now.Sub(since)
	}
	switch path := server.Container.Readiness.Path; {
	case state.Listening || ran <= deadline || state.Up && ran <= deadline+ReadDeadline:
		return nil
	case state.Up:
		return TransientFailure(v1alpha1.ReasonAgentLost, "the observer of implementations[%s] has not read its server within %s of its start", server.Name, deadline+ReadDeadline)
	case a.Work.EndsItself():
		return TransientFailure(v1alpha1.ReasonAgentLost, "the agent in the image of implementations[%s] was not ready within %s", server.Name, deadline)
	case path != "":
		return PermanentFailure(v1alpha1.ReasonServerNotListening, "implementations[%s] did not answer GET %s on port %d with a status of 2xx within %s of its start: check readiness, port and command", server.Name, path, server.Port, deadline)
	}
	return PermanentFailure(v1alpha1.ReasonServerNotListening, "implementations[%s] did not listen on port %d within %s of its start: check port and command, or raise readiness.timeoutSeconds", server.Name, server.Port, deadline)
}

// InputsAway is the failure of an attempt that cannot read the run's scripts or bodies; nil while the store may
// recover.
func (a Attempt) InputsAway(err error) *Failure {
	if a.PrepareLeft() >= 0 {
		return nil
	}
	return TransientFailure(v1alpha1.ReasonStoreUnavailable, "the run's scripts or bodies cannot be read: %s", err)
}

// StartAt returns the start of the first cell to tell the agents.
func (a Attempt) StartAt() time.Time {
	lead := max(StartLead, time.Duration(len(a.Work.Members()))*leadPerMember)
	for range a.lost() {
		lead *= leadGrowth
	}
	return a.Now.Add(lead)
}

// StartMissed is the failure of an agent that would get its start too late; nil otherwise. states are those of all known
// agents.
func (a Attempt) StartMissed(agent string, at time.Time, states ...protocol.State) *Failure {
	if !at.After(a.Started) {
		return nil
	}
	f := TransientFailure(v1alpha1.ReasonAgentLost, "%s did not receive its start in time", agent)
	f.Unstarted = idle(states)
	return f
}

// idle reports whether agents are known and none has begun.
func idle(states []protocol.State) bool {
	return len(states) > 0 && !slices.ContainsFunc(states, func(s protocol.State) bool { return s.Phase != protocol.Idle })
}

const (
	// leastEndPause is the shortest pause between checks for the end of work that ends by itself. The checked agent
	// is not on measured CPUs.
	leastEndPause = 100 * time.Millisecond
	// endLooks is the ratio of such work's run time to the pause before the next check.
	endLooks = 4
)

func (a Attempt) endPause() time.Duration {
	ran := a.Now.Sub(a.Started)
	if ran < 0 {
		return leastEndPause - ran
	}
	return min(max(ran/endLooks, leastEndPause), time.Second)
}

// AwaitEnd returns how long to wait before the agents are checked for the end of the last cell; not positive if it
// has come.
func (a Attempt) AwaitEnd(states ...protocol.State) time.Duration {
	left := a.End().Sub(a.Now)
	if !a.Work.EndsItself() {
		if left > 0 {
			return a.NextEnd()
		}
		return left
	}
	running := slices.ContainsFunc(states, func(s protocol.State) bool { return s.Phase == protocol.Idle || s.Phase == protocol.Running })
	if !running {
		return 0
	}
	return min(left, a.endPause())
}

// AgentsBusy reports whether an agent still works after the last cell, and the failure of one that never began or
// takes too long. states are those of all agents.
func (a Attempt) AgentsBusy(states ...protocol.State) (bool, *Failure) {
	for _, s := range states {
		switch {
		case s.Phase == protocol.Idle:
			f := TransientFailure(v1alpha1.ReasonAgentLost, "the agent (%s) never received its start", s.Member)
			f.Unstarted = idle(states)
			return false, f
		case s.Phase == protocol.Running && a.Now.After(a.End().Add(AgentGrace)):
			return true, TransientFailure(v1alpha1.ReasonAgentLost, "the agent (%s) was still busy %s after the last cell", s.Member, AgentGrace)
		case s.Phase == protocol.Running:
			return true, nil
		}
	}
	return false, nil
}

// NotUploaded is the failure of an agent whose files are not all stored; nil while they may be. However late, the
// agent tries once.
func (a Attempt) NotUploaded(member string, s protocol.State) *Failure {
	if !a.storeLate() || s.Uploading || s.StoreError == "" {
		return nil
	}
	return TransientFailure(v1alpha1.ReasonUploadFailed, "artifacts of %s could not be stored within %s: %s", member, a.storeLimit(), s.StoreError)
}

// TooLarge is the failure of an attempt whose members hold more than a trial of a run of some trials may store; nil if
// they do not. Another attempt would most likely hold as much.
func (a Attempt) TooLarge(trials int, states ...protocol.State) *Failure {
	slots := a.Slots()
	if err := protocol.BudgetOf(len(slots), timetable.End(slots), a.Work.EndsItself() || a.follows, trials).Refuse(states...); err != nil {
		return PermanentFailure(v1alpha1.ReasonResultsTooLarge, "%s", err)
	}
	return nil
}

// StoreAway is the failure of an attempt whose store fails after the last cell; nil while it may recover.
func (a Attempt) StoreAway(err error) *Failure {
	if !a.storeLate() {
		return nil
	}
	return TransientFailure(v1alpha1.ReasonUploadFailed, "%s", err)
}

// StorePause returns the pause between checks of an agent that stores files: short at first, since the next trial
// waits for it, and longer for a slow store.
func (a Attempt) StorePause() time.Duration {
	return min(max(a.Now.Sub(a.End())/storeLooks, leastStorePause), time.Second)
}

const (
	leastStorePause = 20 * time.Millisecond
	// storeLooks is the ratio of the wait so far to the pause before the next check.
	storeLooks = 10
)

func (a Attempt) storeLate() bool { return a.Now.After(a.End().Add(a.storeLimit())) }

func (a Attempt) storeLimit() time.Duration { return max(StoreDeadline, a.Patience) }

// AwaitsNode marks messages about waiting for a bound node.
const AwaitsNode = " is waiting for node "

// Binding returns the trial whose nodes bind the run: the first stored one, since a lost one left nothing to compare.
// Nil if none.
func (l Trials) Binding() *Trial {
	sorted := l.inOrder()
	for i := range sorted {
		if t := &sorted[i]; t.Stored != nil && len(t.Nodes) > 0 {
			return t
		}
	}
	return nil
}

// Bound returns the nodes of every further trial of a block, by member; nil if still free. Trials after the blocks
// are compared with nothing there, and run anywhere.
func (l Trials) Bound(follows bool) map[string]string {
	first := l.Binding()
	if first == nil || follows {
		return nil
	}
	nodes := make(map[string]string, len(first.Nodes))
	for _, n := range first.Nodes {
		nodes[n.Member] = n.Node
	}
	return nodes
}

func nodesNote(first *Trial) string {
	note := fmt.Sprintf("all trials of blocks after %s were bound to its nodes:", first.Name)
	for i, n := range first.Nodes {
		if i > 0 {
			note += ","
		}
		note += fmt.Sprintf(" %s on %s", n.Member, n.Node)
	}
	return note
}
