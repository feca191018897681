package tool

import (
	"fmt"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// Load is a load of a run's spec with what a tool needs of the rest. Defaults of generators and duration are filled in.
type Load struct {
	v1alpha1.Load
	// Field is its path, such as "spec.loads[0]".
	Field string
	// Encrypted is the path of the first implementation with TLS, such as "spec.implementations[1]", or empty.
	Encrypted string
	// Duet: the load is paused repeatedly to switch servers.
	Duet bool
	// Percentiles are those of latencies that the run compares or bounds.
	Percentiles []Percentile
}

// Percentile is requested in a field of the spec. Fix is a remedy other than another tool.
type Percentile struct{ Field, Value, Fix string }

// Asked is one request of a load and its field.
type Asked struct {
	Field string
	v1alpha1.Request
}

// Asked returns the load's request, or those of its mix.
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

// Share returns the first generator's part of a level; it also gets the remainder.
func (l Load) Share(level v1alpha1.Level) record.Cell {
	part := func(n int32) int32 { return (n + l.Generators.Pods - 1) / l.Generators.Pods }
	return record.Cell{
		Load: l.Name, Tool: l.Tool, Connections: part(level.Connections), RequestsPerSecond: part(level.RequestsPerSecond),
		Generators: l.Generators.Pods, Threads: l.Generators.CPUs, DurationSeconds: l.DurationSeconds,
	}
}

// Refusal says why a tool cannot make a load. Problem names field and value. Fix, if any, is a remedy that keeps the tool.
type Refusal struct{ Problem, Fix string }

// Refuse returns a refusal that needs another tool.
func Refuse(problem string, args ...any) *Refusal {
	return &Refusal{Problem: fmt.Sprintf(problem, args...)}
}

// Or adds a remedy that keeps the tool.
func (r *Refusal) Or(fix string, args ...any) *Refusal {
	r.Fix = fmt.Sprintf(fix, args...)
	return r
}

// Refusals returns the non-nil ones.
func Refusals(all ...*Refusal) []Refusal {
	var out []Refusal
	for _, r := range all {
		if r != nil {
			out = append(out, *r)
		}
	}
	return out
}

const rounds = 97

// Sequence returns the repeating order of a mix's requests: a letter each, 'a' for the first; empty for one request.
//
// It consists of shuffled rounds; each holds every request by its reduced weight. So proportions hold over any stretch, up to a round. The
// number of rounds is prime: otherwise a connection that gets each Nth request would often get the same one (still possible for a small
// weight). It depends on the weights alone, so it is the same in every trial and run.
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

// splitMix is Steele, Lea and Flood's generator: the same numbers in every version of Go.
type splitMix uint64

// below draws from 0 to n-1. Its bias of n in 2⁶⁴ is negligible.
func (s *splitMix) below(n int) int {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(n))
}

func divisor(a, b int32) int32 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
