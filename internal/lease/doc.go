// Package lease keeps an operator from writing once its lease may be another's. Election alone does not: an operator that was stopped and wakes, or
// whose API server did not answer, goes on with what it was about to write until its elector has noticed.
package lease
