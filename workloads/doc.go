// Package workloads holds the servers that the project's own samples and tests measure, one folder each, and the test that all
// of them answer alike. It has no code of its own.
package workloads
