// Package facts converts cluster objects to the types of package conduct, and changes of objects to the events of a run.
package facts
