// Package handout hands the stored files of a run out to those who may read the run: the operator reviews who asks, and reads the store; whoever
// asks reaches it through the API server and needs no key. What both sides agree on stands in place.go.
package handout
