// Package util has helpers for lists, texts, CPU lists, panics as errors, and this build's version. It imports nothing from the project.
package util
