// Package notify decides which rounds each sink of a suite still waits for. It builds the CloudEvent of a round, the status of its
// commit and the comment on its pull request. It sends nothing.
package notify
