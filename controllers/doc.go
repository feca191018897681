// Package controllers is Loadstone's edge to the cluster: it looks at what exists, does the next step, and writes down what
// it saw.
//
//	BenchmarkRun --plan--> Trials + Workflow --step k--> Trial k --> server pod + generator pod --> artifacts --> report
//
// Two reconcilers, one endpoint. The BenchmarkRun reconciler plans, waits for its turn, makes the trials and the workflow,
// follows them and reports. The Trial reconciler makes the pinned pods, commands the agents and stores what they measured.
// The endpoint is what a step of the workflow calls: it releases its trial and answers when the trial has ended.
//
// Nothing is remembered between two passes: what to do next follows from the objects, the agents and the store. What is to
// be measured is decided in package plan, how a run is led in package conduct, which is told what the objects say, and what was measured means in
// package analysis and those below it. What a pass consists of is in package reconciler, what the pods of a trial say in package pods.
package controllers
