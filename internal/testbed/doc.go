// Package testbed starts real servers for tests: a Kubernetes API server with its etcd, and MinIO, each once a test binary, on
// free ports of the loopback address. It is imported by tests only, and knows nothing of what they test.
package testbed
