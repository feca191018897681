// Package gitops reads objects as the tools read them that apply what lies in Git: Flux by kstatus, Argo CD by the health scripts of config/gitops.
package gitops
