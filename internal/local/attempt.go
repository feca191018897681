package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/local/reexec"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/progress"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// pollEvery is the polling interval of agents during preparation and after the last cell, when they report no progress.
const pollEvery = 10 * time.Millisecond

const loopback = "127.0.0.1"

type attempt struct {
	*Run
	conduct.Attempt
	// try counts this process's attempts, from 1.
	try      int32
	trial    *conduct.Trial
	team     *team
	told     int
	failures []string
	programs []program
	// rehearsal: nothing is measured.
	rehearsal bool
}

type program struct{ path, digest string }

// retried reports whether another attempt follows a failure. Attempts of killed earlier processes do not count.
func (a *attempt) retried(f *conduct.Failure) bool {
	own := a.Attempt
	own.Number = a.try
	return own.Retried(f)
}

// take runs one attempt. It returns the trial's manifest, or why there is none. An error ends the run.
func (a *attempt) take(ctx context.Context) (*record.Artifact, *conduct.Failure, error) {
	dir, err := os.MkdirTemp(a.work, "attempt-*")
	if err != nil {
		return nil, nil, fmt.Errorf("making a folder for the trial: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // What is left is removed with the run's work folder.
	a.team = newTeam(a.Run)
	defer func() { a.team.end() }()
	for _, step := range []func(context.Context) (*conduct.Failure, error){
		func(context.Context) (*conduct.Failure, error) { return a.assemble(dir) },
		a.prepare, a.start, a.awaitEnd, a.awaitAgents,
	} {
		if f, err := step(ctx); f != nil || err != nil {
			return nil, f, err
		}
	}
	return a.store(ctx)
}

func (a *attempt) assemble(dir string) (*conduct.Failure, error) {
	servers, generators := a.Work.Servers(), 0
	for _, own := range servers {
		if err := checkPort(a.network.Proc(), own); err != nil {
			return conduct.TransientFailure(v1alpha1.ReasonPodLost, "%s", err), nil
		}
	}
	for _, planned := range a.Work.Members() {
		m, err := newMember(dir, planned, a.trial)
		if err != nil {
			return nil, err
		}
		a.team.members = append(a.team.members, m)
		at := place{cpus: a.seats.Server, rest: a.seats.Rest, folder: a.options.Folder}
		if index, err := record.ServerIndex(m.Name); m.isServer() && err == nil {
			at.folder = a.options.folderOf(servers[index].Name)
		}
		if !m.isServer() {
			at.cpus = a.seats.Generators[generators]
			generators++
		}
		if f, err := a.startMember(m, at); f != nil || err != nil {
			return f, err
		}
	}
	return nil, nil
}

// startMember starts a member's processes. The first measures or is measured, and gets the member's CPUs; others only watch.
func (a *attempt) startMember(m *member, at place) (*conduct.Failure, error) {
	flags := []string{"--trial", a.trial.Name, "--node", a.node}
	counters, err := a.isolate(m, at)
	if err != nil {
		return nil, err
	}
	flags = append(flags, counters...)
	if len(a.seats.Generators) == 1 && !m.isServer() {
		flags = append(flags, "--network", "/proc/self/net")
	}
	for i, p := range m.Processes {
		if p.IsAgent() {
			cpus := at.rest
			if i == 0 {
				cpus = at.cpus
			}
			args := p.Args
			if p.Exchanges {
				args = append(slices.Clone(args), "--exchange="+m.exchange)
			}
			if err := a.team.startAgent(m, cpus, flags, args); err != nil {
				return nil, err
			}
			continue
		}
		if f, err := a.startProgram(m, at, p); f != nil || err != nil {
			return f, err
		}
	}
	return nil, nil
}

func (a *attempt) startProgram(m *member, at place, p kind.Process) (*conduct.Failure, error) {
	index, err := record.ServerIndex(m.Name)
	if err != nil {
		return nil, fmt.Errorf("starting a program: %w", err)
	}
	own := a.Work.Servers()[index]
	own.Command, at.cpus = p.Command, at.serving(p)
	if in, found := a.images[own.Name]; found {
		if p.Launched {
			in.root.Exchange = m.exchange
		}
		at.root, a.programs = &in.root, append(a.programs, program{own.Image, in.digest})
		return a.team.startServer(m, at, nil, a.Work, own)
	}
	command, found, f, err := a.commandOf(m, at, p, own)
	if f != nil || err != nil {
		return f, err
	}
	a.programs = append(a.programs, found)
	return a.team.startServer(m, at, command, a.Work, own)
}

// commandOf returns the command of a measured process without an image, and its program. The failure means that there is none.
func (a *attempt) commandOf(m *member, at place, p kind.Process, own record.Implementation) ([]string, program, *conduct.Failure, error) {
	path, err := findProgram(at.folder, own)
	if err != nil {
		return nil, program{}, conduct.PermanentFailure(v1alpha1.ReasonServerExited, "%s", err), nil
	}
	args := slices.Concat(p.Command[1:], own.Container.Args)
	sum, err := digest(at.folder, path, args)
	if err != nil {
		return nil, program{}, conduct.PermanentFailure(v1alpha1.ReasonServerExited, "implementations[%s].command: %s", own.Name, err), nil
	}
	command := append([]string{path}, args...)
	if p.Launched {
		self, err := os.Executable()
		if err != nil {
			return nil, program{}, nil, fmt.Errorf("finding this program: %w", err)
		}
		command = append([]string{self, reexec.LaunchCommand, "--exchange", m.exchange, "--"}, command...)
	}
	return command, program{path, sum}, nil, nil
}

func (a *attempt) pause(ctx context.Context, until time.Time) (*conduct.Failure, error) {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case f := <-a.team.faults:
		a.Now = time.Now()
		return f, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
		a.Now = time.Now()
		return nil, nil
	}
}

// prepare waits until every server is ready, then lets every generator check.
func (a *attempt) prepare(ctx context.Context) (*conduct.Failure, error) {
	servers, generators := a.team.servers(), a.team.generators()
	for {
		if f := a.team.fault(); f != nil {
			return f, nil
		}
		next, k, f := a.Prepare(*a.trial, seen(servers), seen(generators))
		var err error
		switch {
		case f != nil || next == conduct.Prepared:
			return f, nil
		case next == conduct.AskCheck:
			generators[k].asked = true
			f, err = generators[k].ask(protocol.Command{Check: a.Work.Check(a.targets(), a.scripts)})
		default:
			a.tellWaiting(servers[k], a.Work.Servers()[k])
			if f, err = a.pause(ctx, time.Now().Add(pollEvery)); f == nil && err == nil {
				f, err = servers[k].ask(protocol.Command{})
			}
		}
		if f != nil || err != nil {
			return f, err
		}
	}
}

func (a *attempt) targets() []string {
	var out []string
	for _, own := range a.Work.Servers() {
		out = append(out, net.JoinHostPort(loopback, strconv.Itoa(int(own.Port))))
	}
	return out
}

func (a *attempt) start(context.Context) (*conduct.Failure, error) {
	a.Now = time.Now()
	a.Started = a.StartAt()
	a.trial.Started, a.trial.Nodes = a.Started, a.bound()
	c := protocol.Command{Start: a.Start(a.Started, a.targets(), a.sharedCPU())}
	for _, m := range a.team.members {
		if m.agent == nil {
			continue
		}
		if f := a.StartMissed(m.called(), time.Now(), a.states()...); f != nil {
			return f, nil
		}
		if f, err := m.ask(c); f != nil || err != nil {
			return f, err
		}
	}
	return nil, nil
}

// sharedCPU returns the CPU that both servers of a duet share; nil outside one.
func (a *attempt) sharedCPU() *int32 {
	if len(a.Work.Servers()) < 2 {
		return nil
	}
	cpu := int32(a.seats.Server[0])
	return &cpu
}

func (a *attempt) bound() []record.BoundNode {
	var out []record.BoundNode
	for _, m := range a.team.members {
		out = append(out, record.BoundNode{Member: m.Name, Node: a.node})
	}
	return out
}

// awaitEnd waits for the last cell, and reports progress after each. It asks no agent while an answer would cost a generator's CPU.
func (a *attempt) awaitEnd(ctx context.Context) (*conduct.Failure, error) {
	for a.Now = time.Now(); ; {
		wait := a.AwaitEnd(a.states()...)
		if wait <= 0 {
			return nil, nil
		}
		a.tell(progress.Event{Kind: progress.EventProgress, Trial: &a.trial.PlannedTrial, Cell: a.cell()})
		if every := a.options.Every; every > 0 {
			wait = min(wait, every)
		}
		if f, err := a.pause(ctx, a.Now.Add(wait)); f != nil || err != nil {
			return f, err
		}
		a.tellFinished()
		if a.Quiet() || !a.Work.EndsItself() {
			continue
		}
		if f, err := a.askAll(); f != nil || err != nil {
			return f, err
		}
	}
}

func (a *attempt) states() []protocol.State {
	var out []protocol.State
	for _, m := range a.team.members {
		if m.agent != nil {
			out = append(out, m.state)
		}
	}
	return out
}

func (a *attempt) cell() string {
	slots := a.Slots()
	i := min(a.CellsDone(), len(slots)-1)
	if i < 0 || slots[i].Cell.Load == "" {
		return ""
	}
	return timetable.CellName(slots[i].Cell)
}

func (a *attempt) awaitAgents(ctx context.Context) (*conduct.Failure, error) {
	for {
		if f, err := a.askAll(); f != nil || err != nil {
			return f, err
		}
		a.Now = time.Now()
		if busy, f := a.AgentsBusy(a.states()...); f != nil || !busy {
			return f, nil
		}
		if f, err := a.pause(ctx, time.Now().Add(pollEvery)); f != nil || err != nil {
			return f, err
		}
	}
}

func (a *attempt) askAll() (*conduct.Failure, error) {
	for _, m := range a.team.members {
		if m.agent == nil {
			continue
		}
		if f, err := m.ask(protocol.Command{}); f != nil || err != nil {
			return f, err
		}
	}
	return nil, nil
}

// store keeps all agents' files, then writes the manifest: only that completes the trial. For a failed program it keeps the output.
func (a *attempt) store(ctx context.Context) (*record.Artifact, *conduct.Failure, error) {
	prefix := artifact.TrialPrefix(a.prefix, a.trial.Name, a.Number)
	m := a.trial.Manifest(conduct.TrialRecord{Run: a.identity(), Attempt: a.Number, Failures: a.failures, Pods: a.places(), Operator: a.options.Version})
	for _, own := range a.team.members {
		if own.agent == nil {
			continue
		}
		var keys []string
		for _, f := range own.state.Files {
			body, err := os.ReadFile(filepath.Join(own.dir, f.Name))
			if err != nil {
				return nil, nil, fmt.Errorf("storing a file of %s: %w", own.Name, err)
			}
			stored, err := a.folder.Put(ctx, prefix+"/"+own.Name+"/"+f.Name, "application/octet-stream", body)
			if err != nil {
				return nil, nil, err
			}
			if stored.SHA256 != f.SHA256 {
				return nil, nil, fmt.Errorf("storing %s of %s: %w", f.Name, own.Name, errChanged)
			}
			stored.Member, stored.Name = own.Name, f.Name
			m.Artifacts, keys = append(m.Artifacts, stored), append(keys, stored.Key)
		}
		if f := conduct.ProgramFailed(*a.trial, own.state, keys); f != nil {
			return nil, f, nil
		}
		// The agents' clock is this program's.
		m.Clocks = append(m.Clocks, record.AgentClock{Member: own.Name})
	}
	stored, err := a.folder.PutJSON(ctx, artifact.ManifestKey(prefix), m)
	return &stored, nil, err
}

var errChanged = errors.New("it is not what its agent has described")

func (a *attempt) places() []record.PodRecord {
	var out []record.PodRecord
	for _, m := range a.team.members {
		p := record.PodRecord{Name: a.trial.Name + "/" + m.Name, Member: m.Name, Node: a.node}
		if i := slices.Index(a.team.servers(), m); i >= 0 && i < len(a.programs) {
			p.Image, p.ImageID = a.programs[i].path, a.programs[i].digest
		}
		out = append(out, p)
	}
	return out
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return record.Unknown
	}
	return name
}

// stayOn keeps this program, and children without assigned CPUs, on some CPUs.
func stayOn(cpus []int) error { return kernel.Proc("/proc").SetCPUs(os.Getpid(), cpus) }
