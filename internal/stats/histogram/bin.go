package histogram

import "math/bits"

const (
	// HighestMicros is the longest latency of the range: one hour.
	HighestMicros = 3_600_000_000
	lowestMicros  = 1
	digits        = 3

	halfMagnitude = 10
	half          = 1 << halfMagnitude
	// maxBins is 2,048 and 1,024 for each of the 21 doublings up to more than an hour.
	maxBins = 23 * half
)

// Bin is a range of latencies that are counted together, in whole microseconds from Low to High.
type Bin struct{ Low, High int64 }

// BinOf is the bin that holds a latency, in microseconds.
func BinOf(micros int64) Bin { return binAt(indexOf(micros)) }

func binAt(index int) Bin {
	doubling := max(index>>halfMagnitude-1, 0)
	low := int64(index-doubling*half) << doubling
	return Bin{Low: low, High: low + 1<<doubling - 1}
}

func indexOf(micros int64) int {
	doubling := max(bits.Len64(uint64(micros))-halfMagnitude-1, 0)
	return int(micros>>doubling) + doubling*half
}

// middle stands for every sample of the bin.
func (b Bin) middle() float64 { return float64(b.Low + (b.High-b.Low+1)/2) }
