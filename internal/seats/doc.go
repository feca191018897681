// Package seats chooses the CPUs of the members of a run on one machine, from those that it is told of.
package seats
