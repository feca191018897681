// Package follow turns what an API server shows of a run, moment after moment, into the events that a run on this machine tells of itself. So
// the same lines describe both. It reads nothing itself: a Sight is handed in.
package follow
