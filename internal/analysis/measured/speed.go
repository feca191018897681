package measured

import (
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// Worked is the CPU time of the fixed work before and after the cell; false if it was not done both times. In a duet one observer does it
// for both servers.
func (f *Facts) Worked() (before, after float64, ok bool) {
	for _, o := range []*record.CellObservation{f.Seen, f.Peer} {
		if o != nil && o.WorkBefore != nil && o.WorkAfter != nil && o.WorkBefore.CPUNanos > 0 {
			return float64(o.WorkBefore.CPUNanos), float64(o.WorkAfter.CPUNanos), true
		}
	}
	return 0, 0, false
}

// Frequencies are the means of the server's CPUs over the first and the last third of the measured time, in kHz; false if they are unknown.
func (f *Facts) Frequencies() (first, last float64, ok bool) {
	kHz := f.kHz()
	third := len(kHz) / 3
	if len(kHz) < minIntervals {
		return 0, 0, false
	}
	first, _ = inference.Moments(kHz[:third])
	last, _ = inference.Moments(kHz[len(kHz)-third:])
	return first, last, first > 0
}

// kHz is the frequency in each interval of the measured time.
func (f *Facts) kHz() []float64 {
	if f.Seen == nil || f.Seen.Series == nil || f.Seen.Series.EveryMillis <= 0 {
		return nil
	}
	var out []float64
	whole := int(f.LoadSeconds * 1e3 / float64(f.Seen.Series.EveryMillis))
	for _, v := range f.Seen.Series.KHz[:min(whole, len(f.Seen.Series.KHz))] {
		out = append(out, float64(v))
	}
	return out
}
