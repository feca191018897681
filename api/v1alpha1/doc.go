// Package v1alpha1 is the user's side of Loadstone: the kinds BenchmarkRun (which implementations, under which loads),
// BenchmarkSuite (which runs, and when) and Trial (one fresh process of one implementation through the whole sweep), their
// conditions and their reasons.
//
// It holds types, validation markers and constants only; it performs no side effects and depends on no other package
// of the project.
//
// +kubebuilder:object:generate=true
// +groupName=loadstone.dev
package v1alpha1
