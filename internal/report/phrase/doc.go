// Package phrase has every word of a report by key, and builds sentences from a table: effects, winners, objectives,
// noise floors, and a status's one-line verdict.
package phrase
