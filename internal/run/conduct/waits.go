package conduct

import (
	"fmt"
	"slices"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// Deadlines of a trial. Each is reckoned from an instant that its backend has written down.
const (
	// PrepareDeadline bounds the time from an attempt's begin until its agents answer, and until its members run where the run has no more patience.
	PrepareDeadline = 3 * time.Minute
	// ListenDeadline bounds the time from the start of a server until it is ready, where its plan says nothing else, and of a program until its parent is.
	ListenDeadline = record.ReadySeconds * time.Second
	// ReadDeadline bounds how much longer an observer takes until it has read a server that is ready.
	ReadDeadline = 30 * time.Second
	// StartLead is the least time between writing down the start and the first request, in which all agents are told one after the other, and
	// leadPerMember what a trial of many members takes for each. A further attempt takes leadGrowth times as much: the start may have been missed.
	StartLead     = 250 * time.Millisecond
	leadPerMember = 50 * time.Millisecond
	leadGrowth    = 4
	// AgentGrace is how long after the last cell an agent may still be busy.
	AgentGrace = 30 * time.Second
	// StoreDeadline bounds the time from the last cell until everything is stored, of a run that has no more patience.
	StoreDeadline = 10 * time.Minute
)

// PrepareLeft is how long the attempt may still take until its members run; not positive if it has taken too long.
func (a Attempt) PrepareLeft() time.Duration { return a.Begun.Add(a.PrepareLimit()).Sub(a.Now) }

// PrepareLimit is how long the members of an attempt may take until they run: a pull may be long, and nobody says of it how far it is.
func (a Attempt) PrepareLimit() time.Duration {
	return max(PrepareDeadline, a.Patience) + a.dependencies()
}

// dependencies is the longest that those of a server of the attempt may take to get ready, before it is started.
func (a Attempt) dependencies() time.Duration {
	var most int32
	for _, s := range a.Work.Servers() {
		most = max(most, s.DependencySeconds())
	}
	return time.Duration(most) * time.Second
}

// AgentSilent is the failure of an agent that does not answer, and of whose pod nothing else is known than that it runs; nil while it may yet. After the
// last cell it holds files, and has the time of their store: what cuts off the one often cuts off the other.
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

// readiness is how much longer a server of the attempt may take to get ready than most, whose time PrepareDeadline has in it.
func (a Attempt) readiness() time.Duration {
	var most time.Duration
	for _, s := range a.Work.Servers() {
		most = max(most, s.Container.Readiness.Limit()-ListenDeadline)
	}
	return most
}

// NotListening is the failure of a server that runs since some instant and does not listen on its port, of a program whose parent does not come
// up, or of an observer that does not tell what it has read of either; nil while they may yet. state is that of the observer, whose clock is the
// one by which the instant was read: the backend's own may be another.
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
	return PermanentFailure(v1alpha1.ReasonServerNotListening, "implementations[%s] did not listen on port %d within %s of its start: check port and command, or give it longer with readiness.timeoutSeconds", server.Name, server.Port, deadline)
}

// ScriptsAway is the failure of an attempt that cannot read the run's scripts; nil while the store may come back.
func (a Attempt) InputsAway(err error) *Failure {
	if a.PrepareLeft() >= 0 {
		return nil
	}
	return TransientFailure(v1alpha1.ReasonStoreUnavailable, "the run's scripts or bodies cannot be read: %s", err)
}

// StartAt is the instant to tell the agents as that of the first cell.
func (a Attempt) StartAt() time.Time {
	lead := max(StartLead, time.Duration(len(a.Work.Members()))*leadPerMember)
	for range a.lost() {
		lead *= leadGrowth
	}
	return a.Now.Add(lead)
}

// StartMissed is the failure of an agent that would have to be told at an instant when its start is over; nil if it is not. The states are
// those of all agents of the attempt, as far as they are known.
func (a Attempt) StartMissed(agent string, at time.Time, states ...protocol.State) *Failure {
	if !at.After(a.Started) {
		return nil
	}
	f := TransientFailure(v1alpha1.ReasonAgentLost, "%s did not receive its start in time", agent)
	f.Unstarted = idle(states)
	return f
}

// idle reports whether agents are known, and none of them has begun to work.
func idle(states []protocol.State) bool {
	return len(states) > 0 && !slices.ContainsFunc(states, func(s protocol.State) bool { return s.Phase != protocol.Idle })
}

const (
	// leastEndPause is the shortest pause between two looks for the end of work that ends by itself. Who is asked is not on the measured CPUs.
	leastEndPause = 100 * time.Millisecond
	// endLooks is how many times longer such work has run than the next look at it takes to come.
	endLooks = 4
)

// endPause is the pause before the next look for the end of work that ends by itself: short at first, since it may take no time, and the next trial
// waits for it.
func (a Attempt) endPause() time.Duration {
	ran := a.Now.Sub(a.Started)
	if ran < 0 {
		return leastEndPause - ran
	}
	return min(max(ran/endLooks, leastEndPause), time.Second)
}

// AwaitEnd is how long to wait before the agents, which are in some states, are looked at again for the end of the last cell; not positive if
// it has come.
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

// AgentsBusy is true while an agent is still at work after the last cell, and the failure of one that never began or takes too long. The states
// are those of all agents of the attempt.
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

// NotUploaded is the failure of an agent whose files are not all stored; nil while they may be yet. However late it is, the agent tries once.
func (a Attempt) NotUploaded(member string, s protocol.State) *Failure {
	if !a.storeLate() || s.Uploading || s.StoreError == "" {
		return nil
	}
	return TransientFailure(v1alpha1.ReasonUploadFailed, "artifacts of %s could not be stored within %s: %s", member, a.storeLimit(), s.StoreError)
}

// StoreAway is the failure of an attempt whose store refuses what it is asked after the last cell; nil while it may come back.
func (a Attempt) StoreAway(err error) *Failure {
	if !a.storeLate() {
		return nil
	}
	return TransientFailure(v1alpha1.ReasonUploadFailed, "%s", err)
}

// StorePause is the pause between two looks at an agent that stores its files: short at first, since the next trial waits for them, and longer
// for a store that is slow or away.
func (a Attempt) StorePause() time.Duration {
	return min(max(a.Now.Sub(a.End())/storeLooks, leastStorePause), time.Second)
}

const (
	leastStorePause = 20 * time.Millisecond
	// storeLooks is how many times longer a store has been waited for than the next look at it takes to come.
	storeLooks = 10
)

func (a Attempt) storeLate() bool { return a.Now.After(a.End().Add(a.storeLimit())) }

// storeLimit is how long after the last cell the store may be away.
func (a Attempt) storeLimit() time.Duration { return max(StoreDeadline, a.Patience) }

// AwaitsNode is a part of what a trial says that waits for the nodes to which its run is bound.
const AwaitsNode = " is waiting for node "

// Binding is the trial to whose nodes a run is bound: the first that is stored. One that was lost has left nothing with which others would
// have to be compared. It is nil as long as there is none.
func (l Trials) Binding() *Trial {
	sorted := l.inOrder()
	for i := range sorted {
		if t := &sorted[i]; t.Stored != nil && len(t.Nodes) > 0 {
			return t
		}
	}
	return nil
}

// Bound are the nodes to which the members of every further trial of a block are bound, by their names; nil if they may still be chosen. A trial that
// follows the blocks is compared with nothing that they have measured, and goes where it has room.
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

// nodesNote returns a sentence about the nodes to which the run was bound.
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
