package agent

import (
	"fmt"
	"net"
	"net/http"
	"reflect"
	"time"

	"loadstone.dev/loadstone/internal/generate"
	"loadstone.dev/loadstone/internal/protocol"
)

// refusal is an order that is not done, with the HTTP status that says of which kind it is.
type refusal struct {
	status  int
	message string
}

// Error says why the order was refused.
func (r *refusal) Error() string { return r.message }

func refuse(status int, format string, args ...any) error {
	return &refusal{status: status, message: fmt.Sprintf(format, args...)}
}

// obey does an order that was signed for this agent.
func (a *Agent) obey(o protocol.Order) error {
	switch {
	case o.Check != nil && o.Start == nil && o.Store == nil:
		return a.obeyCheck(*o.Check)
	case o.Start != nil && o.Check == nil && o.Store == nil:
		return a.obeyStart(*o.Start)
	case o.Store != nil && o.Check == nil && o.Start == nil:
		return a.obeyStore(*o.Store)
	}
	return refuse(http.StatusUnprocessableEntity, "an order must hold exactly one of check, start and store")
}

// obeyCheck returns when the requests are answered, so that the state that the operator gets holds the result. A Check that
// succeeded is not sent again.
func (a *Agent) obeyCheck(c protocol.Check) error {
	a.checking.Lock()
	defer a.checking.Unlock()
	a.mu.Lock()
	known := a.checked != nil && reflect.DeepEqual(*a.checked, c) && a.state.Checked == protocol.CheckedOK
	started := a.start != nil
	a.mu.Unlock()
	if known {
		return nil
	}
	if started {
		return refuse(http.StatusConflict, "the agent has its start already: a check would disturb what is measured")
	}
	checking, able := a.work.(checker)
	if !able {
		return refuse(http.StatusUnprocessableEntity, "a %s has nothing to check", a.work.Role())
	}
	result := checking.Check(a.life, c)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.checked = &c
	a.state.Checked, a.state.Fault, a.state.Responses = result.Verdict, result.Fault, result.Responses
	return nil
}

func (a *Agent) obeyStart(start protocol.Start) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.start != nil {
		if sameStart(*a.start, start) {
			return nil
		}
		return refuse(http.StatusConflict, "the agent has another start already")
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
	return a.At.Equal(b.At) && a.Target == b.Target && a.Beside == b.Beside && reflect.DeepEqual(a.ServerCPU, b.ServerCPU) && reflect.DeepEqual(a.Slots, b.Slots)
}

// validate refuses a start that cannot be followed, before anything is measured.
func validate(start protocol.Start) error {
	if _, _, err := net.SplitHostPort(start.Target); err != nil {
		return refuse(http.StatusUnprocessableEntity, "the start's target is not host:port: %v", err)
	}
	if _, _, err := net.SplitHostPort(start.Beside); start.Beside != "" && err != nil {
		return refuse(http.StatusUnprocessableEntity, "the start's second target is not host:port: %v", err)
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
		if s.Warmup < at || s.Measure < s.Warmup || s.End <= s.Measure {
			return refuse(http.StatusUnprocessableEntity, "slot %d of the start is out of order", i)
		}
		if protocol.IsDuet(s.Cell) && start.Beside == "" {
			return refuse(http.StatusUnprocessableEntity, "slot %d of the start is a duet's, and the start has no second target", i)
		}
		at = s.End
		name := protocol.RawFile(s.Cell)
		if !protocol.PlainName(name) || names[name] {
			return refuse(http.StatusUnprocessableEntity, "the file name %q of slot %d is not allowed or is there twice", name, i)
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
			return refuse(http.StatusUnprocessableEntity, "the agent holds no file %q", d.Name)
		}
	}
	a.state.Uploading, a.state.StoreError = true, ""
	a.busy.Go(func() { a.store(s) })
	return nil
}
