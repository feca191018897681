package sweep

import (
	"fmt"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/tools"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// maxConnectionsPerPod is what a pod's range of local ports allows towards one server.
const maxConnectionsPerPod = 25_000

// checkPorts wants a port of every server, since loads go to one, and not that of the agent beside it.
func checkPorts(spec v1alpha1.BenchmarkRunSpec) *kind.Violation {
	return kind.Each(spec.Implementations, func(i int, impl v1alpha1.Implementation) *kind.Violation {
		switch impl.Port {
		case 0:
			return kind.Invalid("spec.implementations[%d].port is not set: name the port on which %s listens for the requests of spec.loads", i, impl.Name)
		case protocol.Port:
			return kind.Invalid("spec.implementations[%d].port is %d, on which the agent beside each server listens: let %s listen on another one", i, impl.Port, impl.Name)
		}
		return nil
	})
}

func checkLevels(spec v1alpha1.BenchmarkRunSpec) *kind.Violation {
	return kind.Each(spec.Loads, func(i int, l v1alpha1.Load) *kind.Violation {
		if len(l.Levels) == 0 {
			return kind.Invalid("spec.loads[%d].levels is empty: name at least one level", i)
		}
		return nil
	})
}

// checkDivision repeats what the API's rules say of shares, for specs that come another way.
func checkDivision(spec v1alpha1.BenchmarkRunSpec) *kind.Violation {
	return kind.Each(spec.Loads, func(i int, l v1alpha1.Load) *kind.Violation {
		own := sized(l).Generators
		pods, threads := own.Pods, own.CPUs
		traits := tools.Traits(record.Tool(l.Tool))
		if traits.OneThread && threads != 1 {
			return kind.Invalid("spec.loads[%d].generators.cpus is %d, but %s has one thread: make it 1, and raise spec.loads[%d].generators.pods instead", i, threads, l.Tool, i)
		}
		if !traits.EqualThreads {
			threads = 1
		}
		for j, level := range l.Levels {
			if level.Connections%(pods*threads) != 0 {
				return kind.Invalid("spec.loads[%d].levels[%d].connections is %d, which %d generator pods of %d threads (spec.loads[%d].generators) cannot share equally: make it a multiple of %d", i, j, level.Connections, pods, threads, i, pods*threads)
			}
			if level.Connections/pods > maxConnectionsPerPod {
				return kind.Invalid("spec.loads[%d].levels[%d].connections is %d, %d for each generator pod, but a pod has local ports for %d to one server: raise spec.loads[%d].generators.pods", i, j, level.Connections, level.Connections/pods, maxConnectionsPerPod, i)
			}
		}
		return nil
	})
}

// checkRatesOnly repeats what the API's rules say of tools that sustain constant rates only, and refuses more requests than such a tool may leave records of.
func checkRatesOnly(spec v1alpha1.BenchmarkRunSpec) *kind.Violation {
	return kind.Each(spec.Loads, func(i int, l v1alpha1.Load) *kind.Violation {
		l = sized(l)
		traits := tools.Traits(record.Tool(l.Tool))
		for j, level := range l.Levels {
			if traits.RatesOnly && l.Search.IsZero() && (level.RequestsPerSecond == 0 || level.RampToRequestsPerSecond > 0) {
				return kind.Invalid("spec.loads[%d].levels[%d] has no constant rate, and %s sustains nothing else: set requestsPerSecond without rampToRequestsPerSecond, or use k6", i, j, l.Tool)
			}
			// The first generator gets what does not divide. A search has no rate yet: its highest counts.
			share := timetable.Share(record.Cell{
				Tool: record.Tool(l.Tool), Connections: level.Connections, RequestsPerSecond: level.RequestsPerSecond,
				Generators: l.Generators.Pods, Threads: l.Generators.CPUs, DurationSeconds: l.DurationSeconds,
			}, 0)
			if requests, seconds := tools.Needs(share).Requests, int64(l.DurationSeconds); requests > traits.MaxRequests {
				return kind.Invalid("spec.loads[%d].durationSeconds is %d, in which a generator makes up to %d requests of levels[%d], and %s leaves a record of each, which must be no more than %d: make it %d at most, or use k6",
					i, seconds, requests, j, l.Tool, traits.MaxRequests, traits.MaxRequests*seconds/requests)
			}
		}
		return nil
	})
}

// checkRates refuses rates beyond what is asked of generators of that size: on most machines all that could be measured would be the generator.
func checkRates(spec v1alpha1.BenchmarkRunSpec) *kind.Violation {
	return kind.Each(spec.Loads, func(i int, l v1alpha1.Load) *kind.Violation {
		perCPU := tools.Traits(record.Tool(l.Tool)).MaxRatePerCPU
		if perCPU == 0 {
			return nil // The API's rules give no rates to a tool that keeps none.
		}
		own := sized(l).Generators
		pods, cpus := own.Pods, own.CPUs
		most := int64(pods) * int64(cpus) * int64(perCPU)
		tooFast := func(field string, rate int32, out string) *kind.Violation {
			return kind.Invalid("spec.loads[%d].%s is %d, but of %s no more than %d requests/s are asked for each CPU, and spec.loads[%d].generators.pods times cpus is %d: lower it to at most %d, or raise %s",
				i, field, rate, l.Tool, perCPU, i, pods*cpus, most, out)
		}
		for j, level := range l.Levels {
			switch out := fmt.Sprintf("spec.loads[%d].generators", i); {
			case int64(level.RequestsPerSecond) > most:
				return tooFast(fmt.Sprintf("levels[%d].requestsPerSecond", j), level.RequestsPerSecond, out)
			case int64(level.RampToRequestsPerSecond) > most:
				return tooFast(fmt.Sprintf("levels[%d].rampToRequestsPerSecond", j), level.RampToRequestsPerSecond, out)
			}
		}
		if int64(l.Search.StartRequestsPerSecond) > most {
			return tooFast("search.startRequestsPerSecond", l.Search.StartRequestsPerSecond, fmt.Sprintf("spec.loads[%d].generators.cpus", i))
		}
		return nil
	})
}
