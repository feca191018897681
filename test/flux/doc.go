// Package flux runs Flux' own source-controller and kustomize-controller as processes of a test, with a Git server that they follow, against whatever
// API server there is: one without a cluster (test/gitops), or that of a whole cluster (test/e2e). It is imported by tests only.
package flux
