package agent

import (
	"bytes"
	"errors"

	"loadstone.dev/loadstone/internal/cpuset"
	"loadstone.dev/loadstone/internal/kernel"
	"loadstone.dev/loadstone/internal/record"
)

// reading is a value, or why there is none.
type reading[T any] struct {
	value  T
	failed error
}

func read[T any](value T, err error) reading[T] { return reading[T]{value, err} }

// counts are the counters of a generator at one instant.
type counts struct {
	container, own reading[int64]
	throttled      reading[record.Throttling]
	network        reading[record.Network]
	// cpus is the text of /proc/stat.
	cpus reading[[]byte]
}

func (g *Generator) count() counts {
	c := counts{own: read(kernel.OwnCPUNanos()), network: g.networkCounts(), cpus: g.cpuTimes()}
	c.container, c.throttled = ownUsage()
	return c
}

func (g *Generator) cpuTimes() reading[[]byte] {
	if g.cpus == nil {
		return reading[[]byte]{failed: g.cpusError}
	}
	text, err := g.cpus.Read()
	return read(bytes.Clone(text), err)
}

func (g *Generator) networkCounts() reading[record.Network] {
	if g.network == nil {
		return reading[record.Network]{failed: g.networkError}
	}
	return read(g.network.Read())
}

// difference fills in what happened since counters were read.
func (g *Generator) difference(a *attempt, before counts) {
	after := g.count()
	known := func(name string, failures ...error) bool {
		err := errors.Join(failures...)
		if err != nil {
			a.unknown = append(a.unknown, name+" is unknown: "+err.Error()+".")
		}
		return err == nil
	}
	if known("The CPU time of the generator", before.container.failed, after.container.failed) {
		a.run.CPUNanos = after.container.value - before.container.value
	}
	if known("The throttling of the generator", before.throttled.failed, after.throttled.failed) {
		from, to := before.throttled.value, after.throttled.value
		a.run.Throttled = &record.Throttling{Nanos: to.Nanos - from.Nanos, Periods: to.Periods - from.Periods}
	}
	if known("The CPU time of the generator's agent", before.own.failed, after.own.failed) {
		a.run.AgentCPUNanos = after.own.value - before.own.value
	}
	if known("The traffic of the generator", before.network.failed, after.network.failed) {
		a.run.Network = kernel.Traffic(before.network.value, after.network.value)
		if a.run.Network.Handshakes == nil {
			known("What went wrong while the generator's connections were opened", kernel.ErrNoHandshakes)
		}
	}
	own := cpuset.Parse(a.run.CPUsAllowed)
	from, errFrom := kernel.TimesOf(before.cpus.value, own)
	to, errTo := kernel.TimesOf(after.cpus.value, own)
	if known("What else ran on the generator's CPUs", before.cpus.failed, after.cpus.failed, errFrom, errTo) {
		a.run.BusyNanos, a.run.StealNanos, a.run.CoreNanos = to.Busy-from.Busy, to.Steal-from.Steal, to.Total-from.Total
	}
}

// ownUsage is the CPU time of the agent's own container so far, and what a quota has taken from it.
func ownUsage() (reading[int64], reading[record.Throttling]) {
	c, err := kernel.OpenCgroup("/sys/fs/cgroup")
	if err != nil {
		return reading[int64]{failed: err}, reading[record.Throttling]{failed: err}
	}
	defer c.Close()
	taken := read(c.Throttled())
	return read(c.CPUNanos()), taken
}
