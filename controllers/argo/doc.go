// Package argo creates, reads and deletes a run's Argo workflow, and serves the endpoint that its steps call. A step releases one trial and is
// answered when that trial has ended.
package argo
