// Package record defines the JSON records of a run in the object store: measurements, observations and manifests.
// Every report comes from these types alone. The package does not measure, compute, format or store.
package record
