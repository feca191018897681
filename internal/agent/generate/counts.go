package generate

import (
	"bytes"
	"errors"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
)

var (
	errNoCgroup      = errors.New("the generator has no separate cgroup")
	errShared        = errors.New("the generators share a network namespace")
	errSharedNetwork = errors.New("other programs use the same network namespace")
)

type reading[T any] struct {
	value  T
	failed error
}

func read[T any](value T, err error) reading[T] { return reading[T]{value, err} }

type counts struct {
	container, own reading[int64]
	throttled      reading[record.Throttling]
	network        reading[record.Network]
	cpus           reading[[]byte]
}

func (g *Generator) count() counts {
	c := counts{own: read(kernel.OwnCPUNanos()), network: g.networkCounts(), cpus: g.cpuTimes()}
	c.container, c.throttled = g.usage()
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

func (g *Generator) difference(r *cellRun, before counts) {
	after := g.count()
	known := func(name string, failures ...error) bool {
		err := errors.Join(failures...)
		if err != nil {
			r.unknown = append(r.unknown, name+" is unknown: "+err.Error()+".")
		}
		return err == nil
	}
	if known("The CPU time of the generator", before.container.failed, after.container.failed) {
		r.run.CPUNanos = after.container.value - before.container.value
	}
	if known("The throttling of the generator", before.throttled.failed, after.throttled.failed) {
		from, to := before.throttled.value, after.throttled.value
		r.run.Throttled = &record.Throttling{Nanos: to.Nanos - from.Nanos, Periods: to.Periods - from.Periods}
	}
	if known("The CPU time of the generator's agent", before.own.failed, after.own.failed) {
		r.run.AgentCPUNanos = after.own.value - before.own.value
	}
	if known("The traffic of the generator", before.network.failed, after.network.failed) {
		r.run.Network = kernel.Traffic(before.network.value, after.network.value)
		if g.config.SharedNetwork {
			r.run.Network.ActiveOpens, r.run.Network.PassiveOpens, r.run.Network.Handshakes = 0, 0, nil
			known("The state of the generator's connections", errSharedNetwork)
		} else if r.run.Network.Handshakes == nil {
			known("The number of connection errors of the generator", kernel.ErrNoHandshakes)
		}
	}
	own := util.ParseCPUs(r.run.CPUsAllowed)
	from, errFrom := kernel.TimesOf(before.cpus.value, own)
	to, errTo := kernel.TimesOf(after.cpus.value, own)
	if known("The CPU use of others on the generator's CPUs", before.cpus.failed, after.cpus.failed, errFrom, errTo) {
		r.run.BusyNanos, r.run.StealNanos, r.run.CoreNanos = to.Busy-from.Busy, to.Steal-from.Steal, to.Total-from.Total
	}
}

// usage returns the generator's CPU time so far, and the time lost to a quota.
func (g *Generator) usage() (reading[int64], reading[record.Throttling]) {
	if g.config.Cgroup == "" {
		return read(kernel.FamilyCPUNanos()), reading[record.Throttling]{failed: errNoCgroup}
	}
	c, err := kernel.OpenCgroup(g.config.Cgroup)
	if err != nil {
		return reading[int64]{failed: err}, reading[record.Throttling]{failed: err}
	}
	defer c.Close()
	taken := read(c.Throttled())
	return read(c.CPUNanos()), taken
}
