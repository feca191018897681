// Package record defines what a run leaves behind: measurements, observations and manifests, as they lie in the object
// store in JSON. Everything that is reported is derived from these types and from nothing else.
//
// It holds types and constants only. It neither measures, computes, formats nor stores.
package record
