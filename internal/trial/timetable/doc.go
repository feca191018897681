// Package timetable defines when each cell of a trial is measured, each generator's share, and file names. It is
// pure; the operator and all agents use it, so they agree.
package timetable
