package local

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/progress"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
)

const (
	// listenPatience is how long a server may take to listen before the run says that it waits.
	listenPatience = 5 * time.Second
	// watched is how long the CPUs are watched before the rehearsal.
	watched = time.Second
)

// answers are the responses of the rehearsal, by implementation.
type answers map[string][]record.Response

// rehearse starts every server once, before anything is measured, and lets the generators send their checks. The ending says why the run
// cannot succeed; nil if it can. A program that measures itself has nothing to rehearse, and a resumed run has measured before.
func (r *Run) rehearse(ctx context.Context) (*conduct.Ending, error) {
	if r.facts.Partial() {
		return nil, nil
	}
	if err := r.watchNeighbours(ctx); err != nil {
		return nil, err
	}
	all, failed, rehearsed := answers{}, map[string]*conduct.Failure{}, map[string]bool{}
	var asked []record.Request
	for _, line := range r.facts.Plan.Trials {
		name, t := strings.Join(line.Servers, " "), conduct.Trial{PlannedTrial: line, Work: kinds.Planned(r.facts.Plan.Plan, line)}
		if line.Block != 1 || rehearsed[name] || t.Work.EndsItself() {
			continue
		}
		rehearsed[name] = true
		f, err := r.rehearseTrial(ctx, &t, all)
		switch {
		case err != nil:
			return nil, err
		case f != nil && f.Kind == conduct.Permanent:
			for _, server := range line.Servers {
				failed[server] = f
			}
		}
		if check := t.Work.Check(nil, nil); check != nil {
			asked = check.Requests
		}
	}
	if end := r.nothingLeft(failed); end != nil {
		return end, nil
	}
	message := all.differ(r.facts.Plan.Baseline, asked)
	switch {
	case message == "":
		return nil, nil
	case len(all) > 2: // Others may be comparable.
		r.tell(progress.Event{Kind: progress.EventNote, Message: message})
		return nil, nil
	}
	return failedRehearsal(v1alpha1.ReasonWrongResponse, message), nil
}

// nothingLeft ends a run whose baseline, or all others, cannot be measured. Otherwise it says which implementation is left out.
func (r *Run) nothingLeft(failed map[string]*conduct.Failure) *conduct.Ending {
	p := r.facts.Plan
	if len(failed) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		if name == p.Baseline || len(failed) >= len(p.Implementations)-1 {
			return failedRehearsal(failed[name].Reason, failed[name].Message)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		r.tell(progress.Event{Kind: progress.EventNote, Message: "the rehearsal failed, and the other implementations are measured: " + failed[name].Message})
	}
	return nil
}

func failedRehearsal(reason, message string) *conduct.Ending {
	return &conduct.Ending{Condition: v1alpha1.ConditionExecuted, Reason: reason, Message: "nothing was measured, because the rehearsal failed: " + message}
}

// rehearseTrial prepares an attempt of a trial, as if it were to start, and ends it. Failures of the infrastructure are left to its trial, which
// tries again.
func (r *Run) rehearseTrial(ctx context.Context, t *conduct.Trial, into answers) (*conduct.Failure, error) {
	dir, err := os.MkdirTemp(r.work, "rehearsal-*")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the rehearsal: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // What is left is removed with the run's work folder.
	r.tell(progress.Event{Kind: progress.EventProgress, Trial: &t.PlannedTrial, Cell: "rehearsal"})
	a := attempt{Run: r, Attempt: t.Attempt(1, time.Now()), try: 1, trial: t, rehearsal: true}
	a.team = newTeam(r)
	defer func() { a.team.end() }()
	f, err := a.assemble(dir)
	if f == nil && err == nil {
		f, err = a.prepare(ctx)
	}
	if f != nil || err != nil {
		return f, err
	}
	for _, g := range a.team.generators() {
		if g.state.Checked == nil {
			continue
		}
		for _, answer := range g.state.Checked.Responses {
			server := t.Servers[answer.Server]
			into[server] = append(into[server], answer)
		}
	}
	return nil, nil
}

// differ says which implementation's answer is other work than the baseline's, so that each of its cells would be void; empty if none is.
func (a answers) differ(baseline string, asked []record.Request) string {
	for _, request := range asked {
		is := func(r record.Response) bool { return r.Key() == request.Key() }
		reference := slices.IndexFunc(a[baseline], is)
		if reference < 0 {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(a)) {
			own := a[name]
			k := slices.IndexFunc(own, is)
			if k < 0 || !validity.OtherWork(own[k], a[baseline][reference], request.Expect.AnyBody) {
				continue
			}
			return fmt.Sprintf("implementations[%s] and %s do different work: %s %s is answered with a body of %s and %s. Correct the server or the request. If bodies may differ, set expect: {bodies: Any}",
				name, baseline, request.Verb(), request.Path, format.Size(float64(own[k].BodyBytes)), format.Size(float64(a[baseline][reference].BodyBytes)))
		}
	}
	return ""
}

// watchNeighbours says if other programs use so much of the CPUs that cells would be void.
func (r *Run) watchNeighbours(ctx context.Context) error {
	limit := r.facts.Plan.Validity.MaxNeighbourCPU
	_, busy, err := kernel.WatchCPUs(ctx, os.DirFS("/"), r.seats.Server, watched)
	if err != nil || busy <= limit*float64(len(r.seats.Server)) {
		return err
	}
	r.tell(progress.Event{Kind: progress.EventNote, Message: fmt.Sprintf(
		"this machine is busy: other programs use %.2f of the %d CPUs for servers, and above %s cells are void. End these programs, or expect repeated blocks and no verdict",
		busy, len(r.seats.Server), format.Percent(limit),
	)})
	return nil
}

// tellWaiting says once that a server has not listened for a while.
func (a *attempt) tellWaiting(m *member, own record.Implementation) {
	if !a.rehearsal || m.waiting || time.Since(m.begun) < listenPatience {
		return
	}
	m.waiting = true
	a.tell(progress.Event{Kind: progress.EventNote, Message: fmt.Sprintf(
		"implementations[%s] does not listen on port %d yet; the run waits for it for up to %s: is the port right?", own.Name, own.Port, own.Container.Readiness.Limit(),
	)})
}
