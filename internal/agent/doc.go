// Package agent is what runs inside the measured pods: a generator that puts load on a server by a timing.Clock, and an observer
// that reads what the server costs meanwhile. Both do what the operator has signed and nothing else (package protocol), keep
// their files in one folder until the last cell has ended, and upload them then through signed URLs.
//
// An agent does not decide what to measure, does not judge what it measured, and holds no credential. Once it has its Start it
// needs nobody until its last cell has ended.
package agent
