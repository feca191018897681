// Package agent runs in the measured pods around a worker: a generator, which loads a server by a timetable (package generate), or an
// observer, which reads what the server costs meanwhile (package observe). It obeys only commands signed by the operator (package protocol).
// It keeps the worker's files in one folder until the last cell has ended, then uploads them to signed URLs.
//
// An agent does not decide what to measure, does not judge results, and holds no credentials. After its Start it needs no connection until its
// last cell has ended.
package agent
