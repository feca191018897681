// Package controllers has the reconcilers of BenchmarkRun and Trial.
//
//	BenchmarkRun --plan--> Trials + Workflow --step k--> Trial k --> server pod + generator pod --> artifacts --> report
//
// The BenchmarkRun reconciler plans, waits for its turn, creates trials and the workflow, and reports. The Trial reconciler creates the pinned
// pods, commands the agents and stores their results.
//
// The next step follows from objects, agents and the store. Memory holds only what can be recomputed, such as the compiled plan. Package plan
// lists the trials, package conduct decides what comes next, package analysis what the records mean.
package controllers
