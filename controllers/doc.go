// Package controllers has the reconcilers of BenchmarkRun and Trial. Each pass looks at what exists, does the next step and writes down what it
// saw.
//
//	BenchmarkRun --plan--> Trials + Workflow --step k--> Trial k --> server pod + generator pod --> artifacts --> report
//
// The BenchmarkRun reconciler plans, waits for its turn, creates trials and the workflow, follows them and reports. The Trial reconciler creates
// the pinned pods, commands the agents and stores what they measured. A step of the workflow calls the endpoint of package argo, which releases a
// trial and answers when the trial has ended.
//
// The next step follows from objects, agents and the store. In memory there is only what can be made again, such as the compiled plan of a run.
// Package plan decides what is measured, package conduct what a run does next, and package analysis what the records mean.
package controllers
