package observe

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/agent/kernel/kerneltest"
	"loadstone.dev/loadstone/internal/record"
)

// replay looks at a server that sends perMilli segments each millisecond except while paused, at each of the instants.
// A look takes as long as its delay, in milliseconds.
func replay(perMilli int64, paused func(at int64) bool, instants []int64, delay func(at int64) int64) *record.Pauses {
	now, late := int64(0), int64(0)
	t := traffic{
		clock: func() time.Duration { return time.Duration(now+late) * time.Millisecond },
		read: func() (int64, error) {
			sent := int64(0)
			for at := range now {
				if !paused(at) {
					sent += perMilli
				}
			}
			late = delay(now)
			return sent, nil
		},
	}
	for _, at := range instants {
		now, late = at, 0
		t.look()
	}
	return t.pauses()
}

func every(millis, until int64) (out []int64) {
	for at := int64(0); at <= until; at += millis {
		out = append(out, at)
	}
	return out
}

func TestPausesOfAServerAreSeen(t *testing.T) {
	never := func(int64) bool { return false }
	punctual := func(int64) int64 { return 0 }
	stall := func(from, length int64) func(int64) bool {
		return func(at int64) bool { return at%1000 >= from && at%1000 < from+length }
	}
	for name, tc := range map[string]struct {
		perMilli int64
		paused   func(int64) bool
		instants []int64
		delay    func(int64) int64
		at, took []int64
	}{
		"a steady server":                         {perMilli: 10, paused: never, instants: every(20, 3000), delay: punctual},
		"190 ms of each second":                   {perMilli: 10, paused: stall(810, 190), instants: every(20, 3000), delay: punctual, at: []int64{820, 1820, 2820}, took: []int64{180, 180, 180}},
		"60 ms of each second, between the looks": {perMilli: 10, paused: stall(507, 60), instants: every(20, 2000), delay: punctual, at: []int64{520, 1520}, took: []int64{40, 40}},
		"pauses of 30 ms are too short":           {perMilli: 10, paused: stall(500, 30), instants: every(20, 3000), delay: punctual},
		"a server with too little to do":          {perMilli: 0, paused: never, instants: every(20, 3000), delay: punctual},
		"looks left out: the interval is longer":  {perMilli: 10, paused: never, instants: append(every(20, 1000), 1400, 1420, 1440), delay: punctual},
		"a look that was held up":                 {perMilli: 10, paused: never, instants: append(every(20, 1000), 1300, 1320, 1340), delay: func(at int64) int64 { return map[int64]int64{1000: 290}[at] }},
	} {
		t.Run(name, func(t *testing.T) {
			got := replay(tc.perMilli, tc.paused, tc.instants, tc.delay)
			if diff := cmp.Diff(&record.Pauses{LeastMillis: 40, AtMillis: tc.at, Millis: tc.took}, got); diff != "" {
				t.Errorf("pauses (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTrafficThatCannotBeReadHasNoPauses(t *testing.T) {
	w := traffic{read: func() (int64, error) { return 0, kernel.ErrNoNumber }, clock: func() time.Duration { return 0 }}
	w.look()
	w.look()
	if got := w.pauses(); got != nil || len(w.looks) != 1 {
		t.Errorf("%d looks give %+v", len(w.looks), got)
	}
}

// TestALiveServerThatStandsStillIsSeen counts what a goroutine does that stands still 190 ms of each second. A busy
// machine can hide a pause from the looks, so it looks on until it has seen three.
func TestALiveServerThatStandsStillIsSeen(t *testing.T) {
	const wanted = 3
	var answers atomic.Int64
	go func() {
		for begin := time.Now(); t.Context().Err() == nil; {
			if time.Since(begin) > 810*time.Millisecond {
				time.Sleep(190 * time.Millisecond)
				begin = time.Now()
			}
			answers.Add(1)
			time.Sleep(50 * time.Microsecond)
		}
	}()
	began := time.Now()
	w := traffic{read: func() (int64, error) { return answers.Load(), nil }, clock: func() time.Duration { return time.Since(began) }}
	for seen := 0; seen < wanted; {
		if time.Since(began) > 2*time.Minute {
			t.Fatalf("in two minutes it has seen %+v", w.pauses())
		}
		time.Sleep(lookEvery)
		w.look()
		seen = 0
		if len(w.looks) > 1 {
			seen = len(w.pauses().Millis)
		}
	}
}

// BenchmarkLook runs fifty times a second in an observer: 0.2 ms each would take 1 % of a CPU.
func BenchmarkLook(b *testing.B) {
	w := traffic{read: observed(b).network.SegmentsOut, clock: func() time.Duration { return 0 }}
	kerneltest.OwnTime(b, kernel.OwnCPUNanos, w.look)
	if w.err != nil {
		b.Fatal(w.err)
	}
}
