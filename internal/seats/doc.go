// Package seats chooses the CPUs of the members of a run on one machine. It reads which there are, and sets none.
package seats
