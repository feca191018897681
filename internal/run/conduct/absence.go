package conduct

import "time"

// Absence is the time in which nobody could lead a run whose turn had come, because no operator or no workflow engine was there. It takes nothing from
// the run's own.
type Absence struct {
	// Sum is how long that was in whole seconds, and Until when the last of it ended.
	Sum   time.Duration
	Until time.Time
}

// With adds a time in which nobody led. What of it was added before is left out, so that it may be added again by somebody who does not know.
func (a Absence) With(from, to time.Time) Absence {
	if from.Before(a.Until) {
		from = a.Until
	}
	if away := to.Sub(from).Truncate(time.Second); away > 0 {
		return Absence{Sum: a.Sum + away, Until: to}
	}
	return a
}
