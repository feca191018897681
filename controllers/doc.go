// Package controllers has the reconcilers of BenchmarkRun and Trial.
//
//	BenchmarkRun --plan--> Trials + Workflow --step k--> Trial k --> server pod + generator pod --> artifacts --> report
//
// The BenchmarkRun reconciler plans, waits for its turn, creates trials and the workflow, and reports. The Trial reconciler creates the pinned
// pods, commands the agents and stores their results. A workflow step calls the endpoint of package argo, which releases a trial and answers
// when the trial has ended.
//
// The next step follows from objects, agents and the store. Memory holds only what can be recomputed, such as the compiled plan. Package plan
// lists the trials, package conduct decides what comes next, package analysis what the records mean.
package controllers
