// Package validity decides how far each cell of a run can be trusted. A cell is one level of one load in one trial,
// and a trial is one fresh process.
//
// Every cell is Valid, Suspect or Void, by the checks listed in validity.go. A Void cell enters no mean, distribution
// or comparison, and is listed with its reasons. A Suspect cell enters all of them, and is marked.
//
// faults.go separates an implementation's own failures from external disturbances and what may follow from those. A
// server is blamed only for what nothing else can have caused.
package validity
