// Package argo creates, reads and deletes a run's Argo workflow, and serves the endpoint that its steps call.
package argo
