package observe

import (
	"time"

	"loadstone.dev/loadstone/internal/record"
)

const (
	// lookEvery is the distance of looks at the traffic.
	lookEvery = 20 * time.Millisecond
	// pauseLeast is the shortest pause. One of three intervals holds two whole ones, whatever its phase.
	pauseLeast = 2 * lookEvery
	// pauseRate is the share of the mean rate below which a server pauses; pauseSegments is how many segments the mean
	// rate has in a pause. Chance leaves a tenth of them once in ten million.
	pauseRate, pauseSegments = 0.1, 20
)

// look is one reading of the segments sent so far. It was made between two instants of a cell's measured time.
type look struct {
	before, after time.Duration
	segments      int64
}

type traffic struct {
	read  func() (int64, error)
	clock func() time.Duration
	looks []look
	err   error
}

func (t *traffic) look() {
	if t.err != nil {
		return
	}
	l := look{before: t.clock()}
	l.segments, t.err = t.read()
	l.after = t.clock()
	t.looks = append(t.looks, l)
}

// pauses lists the stretches with hardly a segment; nil if some look failed. A delayed look makes an interval longer,
// and is no pause: a stretch lasts from the end of its first look to the start of its last.
func (t *traffic) pauses() *record.Pauses {
	if t.err != nil || len(t.looks) < 2 {
		return nil
	}
	first, last := t.looks[0], t.looks[len(t.looks)-1]
	rate := float64(last.segments-first.segments) / float64(last.after-first.before)
	out := &record.Pauses{LeastMillis: pauseLeast.Milliseconds()}
	for i := 0; i+1 < len(t.looks); {
		end := i
		for end+1 < len(t.looks) && still(t.looks[end], t.looks[end+1], rate) {
			end++
		}
		took := t.looks[end].before - t.looks[i].after
		if end > i && took >= pauseLeast && rate*float64(took) >= pauseSegments {
			out.AtMillis, out.Millis = append(out.AtMillis, t.looks[i].after.Milliseconds()), append(out.Millis, took.Milliseconds())
		}
		i = max(end, i+1)
	}
	return out
}

// still reports whether so few segments left between two looks, though the time between them was the least possible.
func still(a, b look, rate float64) bool {
	least := b.before - a.after
	return least > 0 && float64(b.segments-a.segments) < pauseRate*rate*float64(least)
}
