// Package v1alpha1 has the API of Loadstone: BenchmarkRun (which implementations, under which loads), BenchmarkSuite (which runs, and when)
// and Trial (one fresh process of one implementation through the whole sweep), with their conditions and reasons.
//
// It contains only types, validation markers and constants, and imports no other package of the project.
// +kubebuilder:object:generate=true
// +groupName=loadstone.dev
package v1alpha1
