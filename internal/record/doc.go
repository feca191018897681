// Package record defines the JSON records of a run in the object store: measurements, observations and manifests. Every report comes from these types
// alone.
package record
