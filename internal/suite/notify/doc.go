// Package notify decides which rounds each sink of a suite still waits for. It builds a round's CloudEvent, commit
// status and pull request comment. It sends nothing.
package notify
