package conduct

import (
	"time"

	"loadstone.dev/loadstone/internal/trial/protocol"
)

// Seen is a member of an attempt as its backend sees it.
type Seen struct {
	// Agent names its agent in messages, and State is what that has said last.
	Agent string
	State protocol.State
	// Since is when the first process of the member was started.
	Since time.Time
	// Asked is true of a generator that was asked for its check.
	Asked bool
}

// Preparation is a step on the way to the start of an attempt.
type Preparation int

const (
	// Prepared means that nothing stands before the start.
	Prepared Preparation = iota
	// AwaitServer waits for a server.
	AwaitServer
	// AskCheck asks a generator for its check.
	AskCheck
)

// Prepare is the next step on the way to the start, and the place of the member that it is about among its like: every server is ready and was
// built as it should, and then every generator has sent a request of each kind and can make its part. A failure ends the attempt.
func (a Attempt) Prepare(t Trial, servers, generators []Seen) (next Preparation, of int, f *Failure) {
	for i, own := range a.Work.Servers() {
		s := servers[i]
		if !s.State.Listening {
			return AwaitServer, i, a.NotListening(own, s.Since, s.State)
		}
		if f = Built(own, s.State.Build); f != nil {
			return Prepared, i, f
		}
	}
	if a.Work.Check(nil, nil) == nil {
		return Prepared, 0, nil
	}
	for i, g := range generators {
		if g.State.Checked == nil && !g.Asked {
			return AskCheck, i, nil
		}
		if f = Checked(t, g.Agent, g.State.Checked); f != nil {
			return Prepared, i, f
		}
	}
	return Prepared, 0, nil
}
