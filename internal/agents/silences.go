package agents

import (
	"sync"
	"time"
)

// Silences are how long agents have not answered who asks them. It is of use only for as long as somebody asks, and so is forgotten with its operator.
type Silences struct {
	mu sync.Mutex
	// since is when each began, by the agent and the question.
	since map[silence]time.Time
}

type silence struct{ agent, question string }

// forgotten is how long after its beginning a silence is none any more: its agent is gone.
const forgotten = time.Hour

// Failed notes that an agent has not answered a question, and returns for how long it has not answered it.
func (s *Silences) Failed(agent, question string, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, began := range s.since {
		if now.Sub(began) > forgotten {
			delete(s.since, k)
		}
	}
	k := silence{agent, question}
	if _, known := s.since[k]; !known {
		if s.since == nil {
			s.since = map[silence]time.Time{}
		}
		s.since[k] = now
	}
	return now.Sub(s.since[k])
}

// Answered ends a silence.
func (s *Silences) Answered(agent, question string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.since, silence{agent, question})
}
