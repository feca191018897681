package agent

import (
	"fmt"
	"net"
	"net/http"
	"reflect"
	"slices"
	"time"

	"loadstone.dev/loadstone/internal/agent/generate"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

type refusal struct {
	status  int
	message string
}

// Error returns why the command was refused.
func (r *refusal) Error() string { return r.message }

func refuse(status int, format string, args ...any) error {
	return &refusal{status: status, message: fmt.Sprintf(format, args...)}
}

func (a *Agent) obey(o protocol.Command) error {
	switch {
	case o.Check != nil && o.Start == nil && o.Store == nil:
		return a.obeyCheck(*o.Check)
	case o.Start != nil && o.Check == nil && o.Store == nil:
		return a.obeyStart(*o.Start)
	case o.Store != nil && o.Check == nil && o.Start == nil:
		return a.obeyStore(*o.Store)
	}
	return refuse(http.StatusUnprocessableEntity, "a command must have exactly one of check, start and store")
}

// obeyCheck returns after the requests are answered, so that the returned state holds the result. The operator does not repeat a successful
// Check.
func (a *Agent) obeyCheck(c protocol.Check) error {
	a.checking.Lock()
	defer a.checking.Unlock()
	a.mu.Lock()
	known := a.checked != nil && reflect.DeepEqual(*a.checked, c) && a.state.Checked != nil && a.state.Checked.OK()
	started := a.start != nil
	a.mu.Unlock()
	if known {
		return nil
	}
	if started {
		return refuse(http.StatusConflict, "the agent has already started: a check would disturb the measurement")
	}
	checking, able := a.work.(checker)
	if !able {
		return refuse(http.StatusUnprocessableEntity, "%s has nothing to check", a.work.Member())
	}
	if err := validateTargets("check", c.Targets, c.TLS); err != nil {
		return err
	}
	result := checking.Check(a.life, c)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.checked, a.state.Checked = &c, &result
	return nil
}

func (a *Agent) obeyStart(start protocol.Start) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.start != nil {
		if sameStart(*a.start, start) {
			return nil
		}
		return refuse(http.StatusConflict, "the agent already has another start")
	}
	if err := validate(start); err != nil {
		return err
	}
	a.start = &start
	a.state.Phase = protocol.Running
	a.busy.Go(func() { a.measure(start) })
	return nil
}

func sameStart(a, b protocol.Start) bool {
	return a.At.Equal(b.At) && slices.Equal(a.Targets, b.Targets) && reflect.DeepEqual(a.TLS, b.TLS) && reflect.DeepEqual(a.ServerCPU, b.ServerCPU) && reflect.DeepEqual(a.Slots, b.Slots)
}

func validateTargets(command string, targets []string, encrypted []*record.TLS) error {
	if n := len(targets); n < 1 || n > record.MaxServers {
		return refuse(http.StatusUnprocessableEntity, "the %s has %d targets: want 1 to %d", command, n, record.MaxServers)
	}
	if n := len(encrypted); n > 0 && n != len(targets) {
		return refuse(http.StatusUnprocessableEntity, "the %s says of %d servers how they speak TLS, and has %d targets", command, n, len(targets))
	}
	for i, target := range targets {
		if _, _, err := net.SplitHostPort(target); err != nil {
			return refuse(http.StatusUnprocessableEntity, "target %d of the %s is not host:port: %v", i, command, err)
		}
	}
	return nil
}

// validate rejects a start that cannot be followed, before anything is measured.
func validate(start protocol.Start) error {
	if err := validateTargets("start", start.Targets, start.TLS); err != nil {
		return err
	}
	if len(start.Slots) == 0 {
		return refuse(http.StatusUnprocessableEntity, "the start has no slots")
	}
	if past := time.Since(start.At); past > generate.MaxLate {
		return refuse(http.StatusUnprocessableEntity, "the start lies %v in the past", past.Round(time.Millisecond))
	}
	var at time.Duration
	names := map[string]bool{}
	for i, s := range start.Slots {
		if s.Warmup < at || s.Measure < s.Warmup || s.Measured <= s.Measure || s.End < s.Measured {
			return refuse(http.StatusUnprocessableEntity, "slot %d of the start is out of order", i)
		}
		if want := timetable.Servers(s.Cell); want != len(start.Targets) {
			return refuse(http.StatusUnprocessableEntity, "slot %d of the start is for %d servers, and the start has %d targets", i, want, len(start.Targets))
		}
		at = s.End
		if s.Cell.Load == "" {
			continue // Only sweeps leave raw output of a load.
		}
		name := timetable.RawFile(s.Cell, 0)
		if !protocol.PlainName(name) || names[name] {
			return refuse(http.StatusUnprocessableEntity, "the file name %q of slot %d is not allowed or not unique", name, i)
		}
		names[name] = true
	}
	return nil
}

func (a *Agent) obeyStore(s protocol.Store) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state.Uploading || a.state.Phase == protocol.Stored {
		return nil
	}
	if a.state.Phase != protocol.Measured {
		return refuse(http.StatusConflict, "the agent is %s: it has nothing to store yet", a.state.Phase)
	}
	held := map[string]bool{}
	for _, f := range a.state.Files {
		held[f.Name] = true
	}
	for _, d := range s.Files {
		if !held[d.Name] {
			return refuse(http.StatusUnprocessableEntity, "the agent has no file %q", d.Name)
		}
	}
	a.state.Uploading, a.state.StoreError = true, ""
	a.busy.Go(func() { a.store(s) })
	return nil
}
