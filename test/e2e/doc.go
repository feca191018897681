// Package e2e tests user actions on a real cluster (KUBECONFIG) with Loadstone installed by its chart. Each test loads only its own pods, for
// seconds. The tests use a separate namespace, remove only their own objects, and leave users' runs unchanged.
package e2e
