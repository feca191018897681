// Package e2e tests what a user does, on a real cluster into which Loadstone was installed by its chart: KUBECONFIG names the
// cluster. The tests send load only to pods of their own runs, each for a few seconds. They work in a namespace of their own, and remove
// what they made and nothing else: a user's runs on the same cluster stay as they are.
package e2e
