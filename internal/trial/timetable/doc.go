// Package timetable says when each cell of a trial is measured, what each generator makes of it, and what its files are called.
//
// It is pure, and the operator and every agent ask it alike: nobody reckons an instant or a share by himself.
package timetable
