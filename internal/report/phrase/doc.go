// Package phrase has every word of a report by its key, and builds sentences from the values of a table: effects with intervals,
// winners, objectives, noise floors, and the one-line verdict of a status.
package phrase
