// Package pass is what one pass of a reconciler over its object consists of, whatever the object is: its phases in their order, the
// conditions that follow from what they have seen, and one write of the status. It decides nothing of a run or of a trial.
package pass
