// Package doctor checks that this machine or a cluster is ready to benchmark.
package doctor
