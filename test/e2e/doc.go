// Package e2e tests user actions on a real cluster (KUBECONFIG) with Loadstone installed by its chart. The tests load only pods of their own runs,
// for seconds. They use a separate namespace, remove only their own objects, and leave users' runs unchanged.
package e2e
