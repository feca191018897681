// Package e2e tests what a user does, on a real cluster into which Loadstone was installed by its chart: KUBECONFIG names the
// cluster. The tests send load only to pods of their own runs, each for a few seconds, and remove what they made.
package e2e
