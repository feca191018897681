// Package gitops reads objects as GitOps tools do: Flux with kstatus, Argo CD with the health scripts of config/gitops. Its tests apply
// config/gitops/flux with Flux' own controllers, from a Git server to the rounds of a suite. They apply the Argo CD samples with the engine of Argo
// CD. Nothing measures there.
package gitops
