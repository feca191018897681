// Package kube is how commands reach a cluster: it finds the installation, applies and follows runs and suites, and fetches reports.
// Its errors say what to do.
package kube
