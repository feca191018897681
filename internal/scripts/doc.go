// Package scripts takes the users' scripts from the ConfigMaps that a run's loads name into the store, where every trial reads them, and
// says in the run's manifest what they were.
package scripts
