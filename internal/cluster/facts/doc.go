// Package facts converts cluster objects to package conduct's types, and their changes to events of a run.
package facts
