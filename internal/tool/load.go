package tool

import (
	"fmt"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// Load is a load of a run's spec, with what a tool must know of the rest of that spec. The defaults of its generators and of its duration are filled in.
type Load struct {
	v1alpha1.Load
	// Field is where it stands, such as "spec.loads[0]".
	Field string
	// Encrypted is the field of the first implementation that speaks TLS, such as "spec.implementations[1]"; empty if none does.
	Encrypted string
	// Duet says that the load is paused again and again, to change from one server to another.
	Duet bool
	// Percentiles are those of the load's latencies that the run compares or bounds.
	Percentiles []Percentile
}

// Percentile is a percentile that is asked for in a field of the spec. Fix says what else than another tool would help.
type Percentile struct{ Field, Value, Fix string }

// Asked is one request of a load and its field.
type Asked struct {
	Field string
	v1alpha1.Request
}

// Asked are the requests of the load: the one that it has, or those of its mix.
func (l Load) Asked() []Asked {
	if len(l.Requests) == 0 {
		return []Asked{{l.Field + ".request", l.Request}}
	}
	var out []Asked
	for i, r := range l.Requests {
		out = append(out, Asked{fmt.Sprintf("%s.requests[%d]", l.Field, i), r.Request})
	}
	return out
}

// Share is what the first of the load's generators makes of a level: it gets what does not divide.
func (l Load) Share(level v1alpha1.Level) record.Cell {
	part := func(n int32) int32 { return (n + l.Generators.Pods - 1) / l.Generators.Pods }
	return record.Cell{
		Load: l.Name, Tool: l.Tool, Connections: part(level.Connections), RequestsPerSecond: part(level.RequestsPerSecond),
		Generators: l.Generators.Pods, Threads: l.Generators.CPUs, DurationSeconds: l.DurationSeconds,
	}
}

// Refusal says why a tool cannot make a load. Problem names the field and its value, and Fix what to do if the tool stays; it may be empty.
type Refusal struct{ Problem, Fix string }

// Refuse makes a refusal with a problem that needs another tool.
func Refuse(problem string, args ...any) *Refusal {
	return &Refusal{Problem: fmt.Sprintf(problem, args...)}
}

// Or adds what to do if the tool stays.
func (r *Refusal) Or(fix string, args ...any) *Refusal {
	r.Fix = fmt.Sprintf(fix, args...)
	return r
}

// Refusals are those of a list that are there.
func Refusals(all ...*Refusal) []Refusal {
	var out []Refusal
	for _, r := range all {
		if r != nil {
			out = append(out, *r)
		}
	}
	return out
}

// rounds is the number of rounds in a sequence.
const rounds = 97

// Sequence is in which order the requests of a mix are made, again and again: a letter for each, 'a' for the first. It is empty of one request.
//
// It is made of rounds, each of which holds every request as often as its weight says, divided by what all weights have in common: so the parts hold
// in any stretch of it, but for a round. Each round is shuffled anew, and their number is a prime: else a connection of a server that answers in turn,
// which gets each Nth request of N connections, would often get the same request all the time, as it still may where a weight is small. It
// follows from the weights alone, so that every implementation, trial and run gets the same.
func Sequence(all []record.MixedRequest) string {
	if len(all) < 2 {
		return ""
	}
	var common int32
	for _, r := range all {
		common = divisor(common, r.Weight)
	}
	var round []byte
	for i, r := range all {
		for range r.Weight / max(common, 1) {
			round = append(round, byte('a'+i))
		}
	}
	var out strings.Builder
	chance := splitMix(0)
	for range rounds {
		for i := len(round) - 1; i > 0; i-- {
			j := chance.below(i + 1)
			round[i], round[j] = round[j], round[i]
		}
		out.Write(round)
	}
	return out.String()
}

// splitMix is Steele, Lea and Flood's generator of random numbers: the same numbers in every version of Go.
type splitMix uint64

// below draws a number from 0 to n-1. That some are likelier by n in 2⁶⁴ shows nowhere.
func (s *splitMix) below(n int) int {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(n))
}

// divisor is the greatest common divisor of two numbers, one of which may be 0.
func divisor(a, b int32) int32 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
