package tool

import (
	"fmt"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// The functions below refuse features that only some tools have. A tool's Check calls one per missing feature.

// RefuseRates refuses arrival rates.
func RefuseRates(l Load) *Refusal {
	for i, level := range l.Levels {
		if level.RequestsPerSecond > 0 {
			return Refuse("%s.levels[%d].requestsPerSecond is %d, and %s sustains no rate", l.Field, i, level.RequestsPerSecond, l.Tool).Or("remove it")
		}
	}
	if !l.Search.IsZero() {
		return Refuse("%s.search looks for an arrival rate, and %s sustains none", l.Field, l.Tool).Or("remove it")
	}
	return nil
}

// RefuseRatesAbove refuses rates above a tool's limit per CPU: on most machines the generator would be the bottleneck.
func RefuseRatesAbove(l Load, perCPU int32) *Refusal {
	cpus := l.Generators.Pods * l.Generators.CPUs
	most := int64(cpus) * int64(perCPU)
	tooFast := func(field string, rate int32, raise string) *Refusal {
		return Refuse("%s.%s is %d, but of %s no more than %d requests/s are asked for each CPU, and %s.generators.pods times cpus is %d", l.Field, field, rate, l.Tool, perCPU, l.Field, cpus).
			Or("lower it to at most %d, or raise %s.%s", most, l.Field, raise)
	}
	for i, level := range l.Levels {
		switch {
		case int64(level.RequestsPerSecond) > most:
			return tooFast(fmt.Sprintf("levels[%d].requestsPerSecond", i), level.RequestsPerSecond, "generators")
		case int64(level.RampToRequestsPerSecond) > most:
			return tooFast(fmt.Sprintf("levels[%d].rampToRequestsPerSecond", i), level.RampToRequestsPerSecond, "generators")
		}
	}
	if int64(l.Search.StartRequestsPerSecond) > most {
		return tooFast("search.startRequestsPerSecond", l.Search.StartRequestsPerSecond, "generators.cpus")
	}
	return nil
}

// RefuseScript refuses a user's script.
func RefuseScript(l Load) *Refusal {
	if l.Script.IsZero() {
		return nil
	}
	return Refuse("%s.script is set, and %s runs none", l.Field, l.Tool).Or("remove it")
}

// RefuseMix refuses a mix of requests.
func RefuseMix(l Load) *Refusal {
	if len(l.Requests) == 0 {
		return nil
	}
	return Refuse("%s.requests is a mix, and %s is given one request", l.Field, l.Tool).Or("make a load of each request")
}

// RefuseHTTP2 refuses HTTP/2; reason is such as "which wrk does not speak".
func RefuseHTTP2(l Load, reason string) *Refusal {
	if l.Protocol != v1alpha1.ProtocolHTTP2 {
		return nil
	}
	return Refuse("%s.protocol is HTTP2, %s", l.Field, reason).Or("remove protocol")
}

// RefuseStreams refuses several requests in flight per connection.
func RefuseStreams(l Load) *Refusal {
	if l.StreamsPerConnection <= 1 {
		return nil
	}
	return Refuse("%s.streamsPerConnection is %d, and %s sends one request at a time on each connection", l.Field, l.StreamsPerConnection, l.Tool).Or("remove it, and raise levels[].connections")
}

// RefuseDuet refuses to be paused.
func RefuseDuet(l Load) *Refusal {
	if !l.Duet {
		return nil
	}
	return Refuse("%s.tool is %s, which cannot be paused as spec.order SlicedDuet pauses it", l.Field, l.Tool).Or("choose spec.order Blocks")
}
