// Package download serves the stored files of a run to users who may get that run. Users reach it through the API server and need
// no key of the store. It has the operator's side and the client's.
package download
