package generate

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"time"

	"loadstone.dev/loadstone/internal/agent/httpcheck"
	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/record"
)

const (
	// sampleShare limits the CPU time of sampling to one part in so many of what the cell uses. A look costs 0.1 to 0.2 ms, and waking up for
	// it 0.05 ms: a cell that uses one CPU is sampled about four times per second.
	sampleShare = 1200
	// samplePatience is how long one look waits for an answer. Meanwhile, a connection that the tool closes stays open.
	samplePatience = 50 * time.Millisecond
	// Tools connect within sampleFirst. sampleLeast and sampleMost bound the pauses between looks.
	sampleFirst, sampleLeast, sampleMost = 100 * time.Millisecond, 10 * time.Millisecond, 10 * time.Second
)

var (
	errEncrypted = errors.New("TLS encrypts them")
	errUnseen    = errors.New("no complete one was seen")
)

// beginSampling compares answers on the tool's own connections until the tool ends: a server may answer an audit's connection rightly and the
// load wrongly. The returned function waits for the end; its result is nil without an answer, and then the cell says why. No script is
// sampled: its correct answers are unknown.
func (g *Generator) beginSampling(p *process, r *cellRun) func() *record.Audit {
	none := func() *record.Audit { return nil }
	if r.slot.Cell.Script != nil {
		return none
	}
	if r.server.TLS != nil {
		r.unsampled(errEncrypted)
		return none
	}
	peek, err := g.openPeek(p, r)
	if err != nil {
		r.unsampled(err)
		return none
	}
	var expected []httpcheck.Expectation
	for _, a := range r.slot.Cell.Requests() {
		expected = append(expected, g.expected(a.Request, r.run.Server))
	}
	s := httpcheck.NewSampler(expected, r.run.Started)
	wait := inBackground(func() error {
		runtime.LockOSThread() // The CPU time is that of the thread.
		defer runtime.UnlockOSThread()
		defer peek.Close() //nolint:errcheck // Nothing was written.
		own, err := p.samplingCPU()
		if err != nil {
			return err
		}
		err = sample(peek, own, used(p.cmd.Process.Pid, r), s)
		if p.handover != nil {
			err = errors.Join(err, p.handover.Wait())
		}
		return err
	})
	return func() *record.Audit {
		err, found := wait(), s.Found()
		if found == nil && err == nil {
			err = errUnseen
		}
		if err != nil {
			r.unsampled(err)
		}
		return found
	}
}

// unsampled records why no answer was sampled, unless the tool compares all answers.
func (r *cellRun) unsampled(why error) {
	if !r.readsBodies() {
		r.unknown = append(r.unknown, fmt.Sprintf("The answers on the load's own connections are unknown: %v.", why))
	}
}

// readsBodies reports whether the tool compares all bodies that the load wants compared.
func (r *cellRun) readsBodies() bool {
	if !r.tool.Caveats(r.share, r.server.TLS != nil).ReadsBodies {
		return false
	}
	for _, a := range r.slot.Cell.Requests() {
		if e := a.Expect; e.Body == nil && !e.AnyBody {
			return false
		}
	}
	return true
}

func (g *Generator) openPeek(p *process, r *cellRun) (*kernel.Peek, error) {
	if r.refused != nil {
		return nil, r.refused
	}
	_, text, err := net.SplitHostPort(r.server.Address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, err
	}
	if p.handover != nil {
		return p.handover.Peek(port, chance(g.config.Trial, r.slot.Cell))
	}
	return kernel.OpenPeek(p.cmd.Process.Pid, port, int(r.share.Connections), chance(g.config.Trial, r.slot.Cell))
}

// used returns a function for the CPU time that a cell has used so far, in nanoseconds. If it is not always busy, the tool's own time is
// a lower bound.
func used(pid int, r *cellRun) func() (int64, error) {
	if began := time.Now(); alwaysBusy(r) {
		return func() (int64, error) { return time.Since(began).Nanoseconds(), nil }
	}
	return func() (int64, error) { return kernel.ProcessCPUNanos(pid) }
}

type looker interface {
	Pause(d time.Duration) bool
	Look(patience time.Duration, see func(descriptor int, waiting []byte))
}

// samplingCPU returns a function for the CPU time that this thread has spent since, and that opening the tool's sockets has cost, in nanoseconds.
func (p *process) samplingCPU() (func() (int64, error), error) {
	before, err := kernel.ThreadCPUNanos()
	return func() (int64, error) {
		now, err := kernel.ThreadCPUNanos()
		if p.handover != nil {
			_, cost := p.handover.Spent()
			now += cost.Nanoseconds()
		}
		return now - before, err
	}, err
}

// sample looks at the connections until the process ends, and uses no more than its share of the CPU time. own and used return the CPU time of
// sampling and of the cell so far, in nanoseconds.
func sample(peek looker, own, used func() (int64, error), s *httpcheck.Sampler) error {
	var slept time.Duration
	for pause := sampleFirst; !peek.Pause(min(pause, sampleMost)); {
		slept += min(pause, sampleMost)
		if pause <= sampleMost {
			peek.Look(samplePatience, s.See)
		}
		now, err := own()
		if err != nil {
			return err
		}
		all, err := used()
		if err != nil {
			return nil //nolint:nilerr // The process has ended.
		}
		// A cell that uses half a CPU pays for a look in twice the time.
		debt := float64(now*sampleShare-all) / float64(max(all, 1))
		pause = max(time.Duration(min(debt*float64(slept), float64(time.Hour))), sampleLeast)
	}
	return nil
}
