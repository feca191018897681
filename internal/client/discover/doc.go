// Package discover finds a Loadstone in a cluster as its user does: through the user's own kubeconfig, with no more
// rights than the user has. It reads; it changes nothing.
package discover
