// Package reconciler runs the phases of one pass over an object, turns the observations into conditions, and writes the status once.
package reconciler
