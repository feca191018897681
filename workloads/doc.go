// Package workloads holds the servers measured by samples and tests, one folder each, and a common conformance test.
package workloads
