// Package notice is what the sinks of a suite are told: which rounds each of them still waits for, the CloudEvent of a round, the status of its commit
// and the comment on its pull request, and what the suite's status remembers after a try. It performs no side effects, and looks at no clock.
package notice
