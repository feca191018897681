package agents

import (
	"testing"
	"time"
)

func TestASilenceLastsFromTheFirstQuestionWithoutAnAnswer(t *testing.T) {
	noon := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	var s Silences
	s.Answered("a", "state")
	for _, step := range []struct {
		agent, question string
		answers         bool
		at, want        time.Duration
	}{
		{"a", "state", false, 0, 0},
		{"a", "state", false, time.Second, time.Second},
		{"b", "state", false, time.Second, 0},
		{"a", "clock", false, time.Second, 0},
		{"a", "state", true, 2 * time.Second, 0},
		{"a", "clock", false, 3 * time.Second, 2 * time.Second},
		{"a", "state", false, 3 * time.Second, 0},
		{"b", "state", false, forgotten + 2*time.Second, 0},
	} {
		if step.answers {
			s.Answered(step.agent, step.question)
		} else if got := s.Failed(step.agent, step.question, noon.Add(step.at)); got != step.want {
			t.Errorf("after %s, %s has not answered %s for %s, want %s", step.at, step.agent, step.question, got, step.want)
		}
	}
	if len(s.since) != 1 {
		t.Errorf("what is over is remembered: %v", s.since)
	}
}
