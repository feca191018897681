package measured

import (
	"math"
	"slices"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// OverTime is a group's speed over a cell's time: mean and range per interval, each cell relative to its own mean.
type OverTime struct {
	EveryMillis int64 `json:"everyMillis"`
	Cells       int   `json:"cells"`
	// ByCPU: CPU time stands in for uncounted segments.
	ByCPU bool `json:"byCPU"`
	// Relative leaves out a cell's first and last interval.
	Relative []float64 `json:"relative"`
	// Least and Most are the slowest and fastest cell per interval.
	Least []float64 `json:"least"`
	Most  []float64 `json:"most"`
	// LargestDip is the largest distance of an interval below its cell's mean. DipBlock is the cell's block,
	// DipMillis where the interval begins.
	LargestDip float64 `json:"largestDipShare"`
	DipBlock   int32   `json:"dipBlock"`
	DipMillis  int64   `json:"dipMillis"`
}

// minIntervals: fewer than three intervals per third say nothing.
const minIntervals = 9

// series is relative to the cell's mean, without the first interval (connections open) and the last (the tool stops).
type series struct {
	block       int32
	everyMillis int64
	byCPU       bool
	relative    []float64
}

// newSeries returns nil for too few counts. Segments stand for answers; without them, CPU time does.
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

// trend is not finite if the first third stood still.
func (s *series) trend() float64 {
	third := len(s.relative) / 3
	first, _ := inference.Moments(s.relative[:third])
	last, _ := inference.Moments(s.relative[len(s.relative)-third:])
	return last/first - 1
}

func (s *series) dip() (share float64, atMillis int64) {
	for i, v := range s.relative {
		if i == 0 || 1-v > share {
			share, atMillis = 1-v, int64(i+1)*s.everyMillis
		}
	}
	return share, atMillis
}

// NewOverTime skips cells whose interval or count differs from the first one's.
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

// DropCourse drops the samples over time.
func (f *Values) DropCourse() { f.series = nil }

// HasCourse reports whether there are enough samples over time.
func (f Values) HasCourse() bool { return f.series != nil }

func short(v float64) float64 { return math.Round(v*1e4) / 1e4 }
