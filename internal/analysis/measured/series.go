package measured

import (
	"math"
	"slices"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// OverTime is the speed of a group over the time of a cell: in each interval the mean over its cells, each related to its own mean, and how
// far they spread.
type OverTime struct {
	EveryMillis int64 `json:"everyMillis"`
	// Cells is the number of cells in it.
	Cells int `json:"cells"`
	// ByCPU is true if the server's CPU time stands for its answers, since its segments were not counted.
	ByCPU bool `json:"byCPU"`
	// Relative is 1 where an interval is as fast as the mean; the first and the last interval of a cell are left out.
	Relative []float64 `json:"relative"`
	// Least and Most are the slowest and the fastest cell in each interval, each related to its own mean.
	Least []float64 `json:"least"`
	Most  []float64 `json:"most"`
	// LargestDip is by how much the slowest interval of any cell lies below that cell's mean, as a share; DipBlock is the cell's
	// block, and DipMillis where the interval begins, from the beginning of the measured time on.
	LargestDip float64 `json:"largestDipShare"`
	DipBlock   int32   `json:"dipBlock"`
	DipMillis  int64   `json:"dipMillis"`
}

// minIntervals is the number of intervals from which on a cell is looked at over time: fewer than three a third say nothing.
const minIntervals = 9

// series is a cell over time, in units of its own mean. Its first interval, in which connections are opened, and its last, in which
// the tool stops, are left out.
type series struct {
	block       int32
	everyMillis int64
	byCPU       bool
	relative    []float64
}

// newSeries reads a cell's counts; nil if they are too few. Segments stand for answers, and CPU time stands in for segments.
func newSeries(s *record.Series, loadSeconds float64, block int32) *series {
	if s == nil || s.EveryMillis <= 0 {
		return nil
	}
	out := series{block: block, everyMillis: s.EveryMillis}
	counts := s.SegmentsOut
	if !slices.ContainsFunc(counts, func(n int64) bool { return n > 0 }) {
		counts, out.byCPU = s.CPUNanos, true
	}
	whole := min(int(loadSeconds*1e3/float64(s.EveryMillis)), len(counts))
	if whole < minIntervals+2 {
		return nil
	}
	counts = counts[1 : whole-1]
	var sum float64
	for _, n := range counts {
		sum += float64(n)
	}
	if sum <= 0 {
		return nil
	}
	for _, n := range counts {
		out.relative = append(out.relative, float64(n)*float64(len(counts))/sum)
	}
	return &out
}

// trend is how much faster the last third is than the first, as a share; no number if the first third stood still.
func (s *series) trend() float64 {
	third := len(s.relative) / 3
	first, _ := inference.Moments(s.relative[:third])
	last, _ := inference.Moments(s.relative[len(s.relative)-third:])
	return last/first - 1
}

// dip is by how much the slowest interval lies below the mean, and where it begins in milliseconds.
func (s *series) dip() (share float64, atMillis int64) {
	for i, v := range s.relative {
		if i == 0 || 1-v > share {
			share, atMillis = 1-v, int64(i+1)*s.everyMillis
		}
	}
	return share, atMillis
}

// NewOverTime averages cells over time; nil if none was sampled. Cells of another interval or another count than the first are left out.
func NewOverTime(cells []Values) *OverTime {
	var out *OverTime
	var sums []float64
	var counts []int
	for _, c := range cells {
		s := c.series
		if s == nil {
			continue
		}
		if out == nil {
			out = &OverTime{EveryMillis: s.everyMillis, ByCPU: s.byCPU}
		}
		if s.everyMillis != out.EveryMillis || s.byCPU != out.ByCPU {
			continue
		}
		for i, v := range s.relative {
			if i == len(sums) {
				sums, counts = append(sums, 0), append(counts, 0)
				out.Least, out.Most = append(out.Least, short(v)), append(out.Most, short(v))
			}
			out.Least[i], out.Most[i] = min(out.Least[i], short(v)), max(out.Most[i], short(v))
			sums[i] += v
			counts[i]++
		}
		out.Cells++
		if share, at := s.dip(); out.Cells == 1 || share > out.LargestDip {
			out.LargestDip, out.DipBlock, out.DipMillis = share, s.block, at
		}
	}
	for i := range sums {
		out.Relative = append(out.Relative, short(sums[i]/float64(counts[i])))
	}
	return out
}

// HasCourse reports whether the cell was sampled over time, often enough to be looked at.
func (f Values) HasCourse() bool { return f.series != nil }

// short keeps four digits, which are more than a picture shows.
func short(v float64) float64 { return math.Round(v*1e4) / 1e4 }
