// Package reconciler drives a reconciler through the phases of one pass, whatever the object is. It turns what the phases saw into
// conditions, and writes the status once.
package reconciler
