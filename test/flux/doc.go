// Package flux runs Flux' source-controller and kustomize-controller as test processes, with a Git server. They use an API server without a cluster
// (test/gitops) or a whole cluster (test/e2e). Only tests import it.
package flux
