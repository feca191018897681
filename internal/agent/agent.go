package agent

import (
	"context"
	"errors"
	"sync"
	"time"

	"loadstone.dev/loadstone/internal/agent/generate"
	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/agent/observe"
	"loadstone.dev/loadstone/internal/agent/program"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// Worker is the part that differs between a generator, an observer, a collector and a monitor.
type Worker interface {
	Member() string
	// Measure follows the timetable and calls done after each cell with its failure, if any. It returns the record and the names of the files
	// written. With a *protocol.ProgramFault the files hold the program's output.
	Measure(ctx context.Context, start protocol.Start, done func(cell record.Cell, failure string)) (result any, files []string, err error)
}

type watcher interface {
	Watch(ctx context.Context, update func(func(*protocol.State)))
}

type checker interface {
	Check(ctx context.Context, c protocol.Check) protocol.Checked
}

// Optional interfaces are asserted at run time: these lines catch a wrong method signature at compile time.
var (
	_ Worker  = (*generate.Generator)(nil)
	_ checker = (*generate.Generator)(nil)
	_ Worker  = (*observe.Observer)(nil)
	_ watcher = (*observe.Observer)(nil)
	_ Worker  = (*program.Collector)(nil)
	_ watcher = (*program.Collector)(nil)
	_ Worker  = (*program.Monitor)(nil)
	_ watcher = (*program.Monitor)(nil)
)

// Agent answers the operator and obeys its commands.
type Agent struct {
	config Config
	work   Worker
	upload uploader
	// life ends with the agent: work that a command starts outlives its request.
	life context.Context
	busy sync.WaitGroup
	// checking serializes Checks.
	checking sync.Mutex

	mu      sync.Mutex
	state   protocol.State
	checked *protocol.Check
	start   *protocol.Start
	stored  map[string]bool
}

// New makes an agent that works until ctx ends.
func New(ctx context.Context, c Config, w Worker) *Agent {
	a := &Agent{
		config: c,
		work:   w,
		upload: newUploader(c.Dir),
		life:   ctx,
		stored: map[string]bool{},
		state:  protocol.State{Member: w.Member(), Trial: c.Trial, Attempt: c.Attempt, Phase: protocol.Idle},
	}
	if watching, ok := w.(watcher); ok {
		a.busy.Go(func() { watching.Watch(ctx, a.update) })
	}
	return a
}

// Wait returns when all work has ended, or after limit. Call it after the agent's context has ended.
func (a *Agent) Wait(limit time.Duration) {
	ended := make(chan struct{})
	go func() {
		a.busy.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(limit):
	}
}

// State returns the agent's current state.
func (a *Agent) State() protocol.State {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state.Phase == protocol.Idle {
		a.state.CPUsAllowed = kernel.OwnCPUsAllowed()
	}
	s := a.state
	s.Now = time.Now()
	return s
}

func (a *Agent) update(change func(*protocol.State)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(&a.state)
}

func (a *Agent) measure(start protocol.Start) {
	result, names, err := a.work.Measure(a.life, start, func(cell record.Cell, failure string) {
		a.update(func(s *protocol.State) {
			s.CellsDone++
			if failure != "" {
				s.Message = timetable.CellName(cell) + ": " + failure
			}
		})
	})
	var fault *protocol.ProgramFault
	var files []protocol.File
	switch {
	case err == nil:
		files, err = keep(a.config.Dir, result, names)
	case errors.As(err, &fault) && len(names) > 0:
		files, err = describe(a.config.Dir, names) // The program's output is stored before its failure is reported.
	}
	a.update(func(s *protocol.State) {
		s.Program = fault
		if err != nil {
			s.Phase, s.Message = protocol.Failed, err.Error()
			return
		}
		s.Phase, s.Files = protocol.Measured, files
	})
}

func (a *Agent) store(command protocol.Store) {
	err := a.uploadAll(command)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state.Uploading, a.state.StoreError = false, ""
	if err != nil {
		a.state.StoreError = err.Error()
	} else if len(a.stored) == len(a.state.Files) {
		a.state.Phase = protocol.Stored
	}
}

func (a *Agent) uploadAll(command protocol.Store) error {
	ctx, cancel := context.WithTimeout(a.life, storeLimit)
	defer cancel()
	upload, err := a.upload.trusting(command.CA)
	if err != nil {
		return err
	}
	for _, d := range command.Files {
		a.mu.Lock()
		stored := a.stored[d.Name]
		a.mu.Unlock()
		if stored {
			continue
		}
		if err := upload.put(ctx, d); err != nil {
			return err
		}
		a.mu.Lock()
		a.stored[d.Name] = true
		a.mu.Unlock()
	}
	return nil
}
