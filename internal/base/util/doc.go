// Package util has small helpers that several packages need: lists and texts, lists of CPUs, panics as errors, and the version of
// this build. It imports nothing of the project.
package util
