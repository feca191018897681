// Package testbed starts real servers for tests: a Kubernetes API server with its etcd, MinIO and versitygw, each once a test binary, on
// free ports of the loopback address. It gives an operator of the tests' the rights that the chart gives it, and sees that no other is asked for. It is
// imported by tests only, and knows nothing of what they test.
package testbed
