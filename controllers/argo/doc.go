// Package argo makes, reads and removes the Argo workflow of a run, and serves the endpoint that the workflow's steps call.
// A step releases one trial and is answered when that trial has ended. The workflow orders trials; it measures nothing.
package argo
