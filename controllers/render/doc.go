// Package render turns a plan into Kubernetes objects: the workflow that orders the trials, and the pods that are measured.
//
// Every function is pure and returns a whole object.
package render
