// Package agent is what runs inside the measured pods around a worker: a generator, which puts load on a server by a timetable (package
// generate), or an observer, which reads what the server costs meanwhile (package observe). It does what the operator has signed and
// nothing else (package protocol), keeps the worker's files in one folder until the last cell has ended, and uploads them then through
// signed URLs.
//
// An agent does not decide what to measure, does not judge what it measured, and holds no credential. Once it has its Start it
// needs nobody until its last cell has ended.
package agent
