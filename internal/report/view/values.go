package view

import (
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// Limits prints an interval, of which an end may be open.
func (v *View) Limits(low, high *float64, print func(float64) string) string {
	switch {
	case low != nil && high != nil:
		return v.Say("range", print(*low), print(*high))
	case low != nil:
		return v.Say("atleast", print(*low))
	case high != nil:
		return v.Say("atmost", print(*high))
	}
	return format.Missing
}

// Mean prints the mean of what was measured; a missing one if nothing was.
func (v *View) Mean(s *inference.Summary, print func(float64) string) string {
	if s == nil {
		return format.Missing
	}
	return print(s.Mean)
}
