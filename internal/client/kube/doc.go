// Package kube is the commands' access to a cluster: it finds the installation, applies and follows runs and suites, and fetches reports. Its
// errors include remedies.
package kube
