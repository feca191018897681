// Package manager tells Prometheus how the queue of runs stands and what the object store answers, so that an operator that lives and gets nothing
// done raises an alert. What is told of runs is read from their statuses when Prometheus asks, and remembered by nobody.
package main
