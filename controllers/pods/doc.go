// Package pods judges the pods of an attempt at a trial: whether they run, what they wait for, and what caused a permanent failure. It makes no
// requests.
package pods
