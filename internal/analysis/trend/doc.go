// Package trend tests whether results changed over a run, or with the age of the servers' processes.
//
// A steady drift cancels in mirrored blocks, and age cancels in mirrored levels. The tests say whether there was
// anything to cancel. They decide nothing. All of a run's tests share inference.Alpha.
package trend
