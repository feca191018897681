// Package kube is how commands reach a cluster: by kubectl's own flags and files they find it, its Loadstone and the runs in its store, put
// runs on it, and follow them to their end.
package kube
