package verdicts

import (
	"math"
	"math/rand/v2"

	"loadstone.dev/loadstone/hack/bench/aa"
)

// tailDeviation is the standard deviation of the log of the ratio of two equal servers' p99 in a block. The recordings have no latencies; this is
// what pairs of ordinary cells had on the machine for which the default experiment was designed.
const tailDeviation = 0.5

// deviation is by how much the logs of one server's figures in a cell are off. The deviation of the median latency is that of the throughput,
// mirrored, as it is where all connections always wait for an answer.
type deviation struct{ cpu, throughput, tail float64 }

// noise draws what one server's process is off at each level of a block.
type noise func(random *rand.Rand, levels int) []deviation

// logs are the log ratios of a recorded block, one a level.
type logs struct{ cpu, throughput []float64 }

func sequential(l aa.Level) aa.Pair { return l.Sequential }
func sliced(l aa.Level) aa.Pair     { return l.Sliced }

func logsOf(r aa.Recording, of func(aa.Level) aa.Pair) []logs {
	list := make([]logs, len(r.Blocks))
	for i, b := range r.Blocks {
		for _, l := range b.Levels {
			cpu, throughput := of(l).Logs()
			list[i].cpu, list[i].throughput = append(list[i].cpu, cpu), append(list[i].throughput, throughput)
		}
	}
	return list
}

// recordedPair is the noise of a pair as it was recorded: a block with all its levels, and in half of the cases with its two servers swapped. A run of
// more levels than were recorded gets the rest from another block.
func recordedPair(recorded []logs) noise { return recordedNoise(recorded, 1) }

// recordedServer is the noise of one server: what either of a recorded pair is off from the middle of the two, by a factor that gives the pair of
// two servers that are drawn by themselves the recorded spread. So contenders can share a baseline, though only two servers were recorded at a time.
func recordedServer(recorded []logs) noise { return recordedNoise(recorded, 1/math.Sqrt2) }

func recordedNoise(recorded []logs, scale float64) noise {
	return func(random *rand.Rand, levels int) []deviation {
		out := make([]deviation, 0, levels)
		for len(out) < levels {
			from := recorded[random.IntN(len(recorded))]
			factor := scale * float64(1-2*random.IntN(2))
			for l := 0; l < len(from.cpu) && len(out) < levels; l++ {
				out = append(out, deviation{factor * from.cpu[l], factor * from.throughput[l], tailDeviation * scale * random.NormFloat64()})
			}
		}
		return out
	}
}

// normalServer is the noise of one server by a normal distribution with these standard deviations: of its cells, and of its process over all of them.
func normalServer(cell, process float64) noise {
	return func(random *rand.Rand, levels int) []deviation {
		out, whole := make([]deviation, levels), process*random.NormFloat64()
		for l := range out {
			off := whole + cell*random.NormFloat64()
			out[l] = deviation{off, -off, tailDeviation / math.Sqrt2 * random.NormFloat64()}
		}
		return out
	}
}

// spread is the standard deviation of the log ratios of equal servers' CPU time per request, over blocks and levels. The mean is not estimated: it
// is 0.
func spread(recorded []logs) float64 {
	var squares float64
	n := 0
	for _, b := range recorded {
		for _, v := range b.cpu {
			squares += v * v
			n++
		}
	}
	return math.Sqrt(squares / float64(n))
}
