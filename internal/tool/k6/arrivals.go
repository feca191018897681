package k6

import (
	"errors"
	"fmt"
	"math"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
	"loadstone.dev/loadstone/internal/tool"
)

// allowed is how many of n starts may be missing without notice: one percent, or two at the ends of the time.
func allowed(n int64) int64 { return max(n/100, 2) }

func (s summary) addArrivals(m *record.Measurement) {
	seconds := s.gauge("duration") / microsPerMilli
	wanted := int64(math.Floor((s.gauge("rate") + s.gauge("rate_end")) / 2 * seconds))
	begun := s.count(metricBegun)
	m.Dropped = s.count(metricDropped)
	m.Asked = max(wanted, begun+m.Dropped)
	if left := m.Asked - begun - m.Dropped; left > allowed(m.Asked) {
		m.Unknown = append(m.Unknown, fmt.Sprintf("k6 itself did not sustain the rate: it never made %d of %d starts.", left, m.Asked))
	}
	latency, err := s.fromIntended(m.Asked)
	if err != nil {
		m.Unknown = append(m.Unknown, "The latencies from the intended starts are unknown: "+err.Error()+".")
		return
	}
	m.Latency = append(m.Latency, latency)
}

// fromIntended widens the wrapper's latencies by its uncertainties: the delay between scenario start and reading k6's clock, the true start of
// a ramp, and which arrivals were dropped earlier. Iterations that k6 cut off are longer than their grace.
func (s summary) fromIntended(asked int64) (record.Latency, error) {
	cut := s.count(metricBegun) - s.count(metricIterations)
	samples := s.count(metricFromIntended)
	dropped := s.count(metricDropped)
	switch left := s.completed() - samples; {
	case dropped > allowed(asked):
		return record.Latency{}, errors.New("some arrivals were dropped, and k6 does not say which")
	case cut < 0 || samples > s.count(metricBegun):
		return record.Latency{}, errors.New("k6's counters contradict each other")
	case left < 0 || left > cut+s.count(metricExtra):
		return record.Latency{}, fmt.Errorf("k6 counted %d answers in %d iterations, and an arrival is one request", s.completed(), samples)
	}
	found, err := s.brackets(metricFromIntended)
	if err != nil {
		return record.Latency{}, err
	}
	width, err := s.widthMicros(dropped)
	if err != nil {
		return record.Latency{}, err
	}
	for i := range found {
		found[i].LowMicros = max(0, found[i].LowMicros-width)
	}
	if cut > 0 {
		found = append(found, tool.Bracket{LowMicros: int64(s.gauge("grace") * microsPerMilli), HighMicros: histogram.HighestMicros, Count: cut})
	}
	return tool.Bracketed(record.FromIntended, found)
}

// widthMicros returns how much shorter a latency from the intended start can be than the wrapper measured.
func (s summary) widthMicros(dropped int64) (int64, error) {
	width, ok := s.largest(metricClockError)
	if !ok && s.count(metricFromIntended) > 0 {
		return 0, errors.New("k6's clock was not compared with the scenario's")
	}
	if late, ok := s.least(metricLeastLate); ok {
		width += late
	}
	if dropped > 0 {
		width += float64(dropped) * microsPerMilli / min(s.gauge("rate"), s.gauge("rate_end"))
	}
	if !sane(width) {
		return 0, errors.New("k6's counters contradict each other")
	}
	return int64(math.Ceil(width * microsPerMilli)), nil
}
