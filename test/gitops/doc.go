// Package gitops reads objects as the tools read them that apply what lies in Git: Flux by kstatus, Argo CD by the health scripts of config/gitops.
// Its tests apply config/gitops/flux through Flux' own controllers, from a Git server to the rounds of a suite, and through the engine of Argo CD. Nobody
// measures there.
package gitops
