package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/agent"
	"loadstone.dev/loadstone/internal/agent/cgroup"
	"loadstone.dev/loadstone/internal/agent/launch"
	"loadstone.dev/loadstone/internal/local/image"
	"loadstone.dev/loadstone/internal/local/reexec"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

const maxLastWords = 300

type team struct {
	members []*member
	// faults receives the first failure of a process.
	faults chan *conduct.Failure
	logs   []*os.File
	// held is held by every process of a run; nil without a run.
	held    *os.File
	network *reexec.Network
}

func newTeam(r *Run) *team {
	return &team{faults: make(chan *conduct.Failure, 1), held: r.claim.Held(), network: r.network}
}

type member struct {
	kind.Member
	// dir holds its agent's files; exchange is shared by a program's parent and its collector.
	trial         *conduct.Trial
	dir, exchange string
	// keeper runs the implementation; nil if there is none. begun is its start.
	keeper *reexec.Process
	begun  time.Time
	group  *cgroup.Group
	agent  *reexec.Process
	log    string
	state  protocol.State
	asked  bool
	// waiting: the user was told that the server does not listen yet.
	waiting bool
}

func (m *member) isServer() bool { return m.Role == v1alpha1.RoleServer }

func (t *team) servers() []*member { return t.choose(true) }

func (t *team) generators() []*member { return t.choose(false) }

func (t *team) choose(servers bool) []*member {
	var out []*member
	for _, m := range t.members {
		if m.isServer() == servers {
			out = append(out, m)
		}
	}
	return out
}

func seen(members []*member) []conduct.Seen {
	var out []conduct.Seen
	for _, m := range members {
		out = append(out, conduct.Seen{Agent: m.called(), State: m.state, Since: m.begun, Asked: m.asked})
	}
	return out
}

// fail records why a process ended; only an attempt's first failure counts.
func (t *team) fail(f *conduct.Failure) {
	if f == nil {
		return
	}
	select {
	case t.faults <- f:
	default:
	}
}

func (t *team) fault() *conduct.Failure {
	select {
	case f := <-t.faults:
		return f
	default:
		return nil
	}
}

// end ends all processes, the load first, and waits for them.
func (t *team) end() {
	for _, m := range t.members {
		if m.agent != nil {
			_ = m.agent.In.Close() // Those that end at once need no wait.
		}
	}
	for _, m := range t.members {
		if m.agent != nil {
			m.agent.End()
		}
		if m.keeper != nil {
			m.keeper.End()
		}
	}
	for _, m := range t.members {
		m.group.Remove()
	}
	for _, l := range t.logs {
		_ = l.Close() // Nothing is written there any more.
	}
}

func (t *team) openLog(path string) (*os.File, error) {
	log, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("making a file for the output of a process: %w", err)
	}
	t.logs = append(t.logs, log)
	return log, nil
}

// startServer starts an implementation below its keeper. The failure means that it cannot be started at all.
func (t *team) startServer(m *member, at place, command []string, w kind.Work, own record.Implementation) (*conduct.Failure, error) {
	log, err := t.openLog(m.log + ".keeper")
	if err != nil {
		return nil, err
	}
	args := []string{reexec.KeeperCommand, "--cpus", reexec.CPUList(at.cpus), "--dir", at.folder, "--log", m.log, "--stop-signal", own.StopSignal}
	if at.root != nil {
		sandbox, err := reexec.RootArgs(*at.root)
		if err != nil {
			return nil, err
		}
		args = append(args, sandbox...)
	} else {
		for _, v := range variables(own) {
			args = append(args, "--env", v)
		}
	}
	args = append(append(append(args, reexec.GroupArgs("cgroup", m.group)...), "--"), command...)
	if m.keeper, err = reexec.Start(t.network, reexec.Child{Args: args, CPUs: at.rest}, log, t.held); err != nil {
		return nil, err
	}
	m.begun = time.Now()
	notes := json.NewDecoder(m.keeper.Out)
	var started reexec.Note
	if err := notes.Decode(&started); err != nil {
		return nil, fmt.Errorf("starting implementations[%s]: %w: %s", own.Name, err, launch.Tail(log.Name(), maxLastWords))
	}
	if started.PID == 0 {
		return conduct.PermanentFailure(v1alpha1.ReasonServerExited, "implementations[%s] cannot be started: %s: check implementations[].command", own.Name, started.Failed), nil
	}
	go func() {
		var ended reexec.Note
		if err := notes.Decode(&ended); err != nil || ended.Exited == nil {
			return // The keeper was ended.
		}
		t.fail(conduct.ServerExited(w, own, conduct.Exit{Code: ended.Exited.Code, Reason: ended.Exited.Reason, OutOfMemory: ended.OutOfMemory, LastWords: launch.Tail(m.log, maxLastWords)}))
	}()
	return nil, nil
}

func (t *team) startAgent(m *member, cpus []int, flags, args []string) error {
	log, err := t.openLog(m.log + ".agent")
	if err != nil {
		return err
	}
	flags = append([]string{reexec.AgentCommand, "--member", m.Name, "--dir", m.dir}, flags...)
	if m.keeper != nil {
		flags = append(flags, "--keeper", strconv.Itoa(m.keeper.PID))
	}
	flags = append(append(flags, "--"), args...)
	if m.agent, err = reexec.Start(t.network, reexec.Child{Args: flags, CPUs: cpus, Orphaned: syscall.SIGKILL}, log, t.held); err != nil {
		return err
	}
	return nil
}

// ask sends an agent a command, or asks for its state if the command is empty. The failure means that it has ended.
func (m *member) ask(c protocol.Command) (*conduct.Failure, error) {
	body, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encoding a command: %w", err)
	}
	var answer agent.Answer
	if !m.agent.Exchange(append(body, '\n'), &answer) {
		m.agent.End()
		exit := conduct.Exit{Code: int32(m.agent.Exit.Code), Reason: m.agent.Exit.Text, LastWords: launch.Tail(m.log+".agent", maxLastWords)}
		return conduct.AgentExited(m.called(), exit), nil
	}
	m.state = answer.State
	if answer.Refused != "" {
		return conduct.AgentRefused(m.called(), errors.New("refused: "+answer.Refused)), nil
	}
	return conduct.AgentFailed(*m.trial, m.called(), m.state), nil
}

func (m *member) called() string { return "the agent of " + m.Name }

type place struct {
	cpus   []int
	rest   []int
	folder string
	// root is the image whose program replaces the command; nil for none.
	root *image.Root
}

// serving returns a measured process's CPUs: as many of the servers' as it owns, at least one.
func (p place) serving(own kind.Process) []int {
	return p.cpus[:max(min(Whole(own.MilliCPU), len(p.cpus)), 1)]
}

func newMember(dir string, m kind.Member, t *conduct.Trial) (*member, error) {
	own := filepath.Join(dir, m.Name)
	made := &member{Member: m, trial: t, dir: own, exchange: own + ".exchange", log: own + ".output"}
	if err := errors.Join(os.MkdirAll(made.dir, 0o700), os.MkdirAll(made.exchange, 0o700)); err != nil {
		return nil, fmt.Errorf("making the folders of %s: %w", m.Name, err)
	}
	return made, nil
}
