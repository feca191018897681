// Package environment reports the machines of a run's trials, their differences, and unknown facts.
package environment
