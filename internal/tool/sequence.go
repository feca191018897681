package tool

import (
	"strings"

	"loadstone.dev/loadstone/internal/record"
)

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
