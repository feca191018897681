// Package testbed starts real servers for tests: a Kubernetes API server with etcd, MinIO and versitygw, each once per test binary, on free
// loopback ports. It gives tests the chart's rights, and fails those that need others. Only tests import it.
package testbed
