// Package capacity reads from the searches of a run the highest rates that its implementations bore.
//
// The steps of a search are no levels: their rates were found while the trials ran and differ between implementations, so that they
// enter neither groups nor comparisons. What counts is the number that each trial ends with. A trial whose searches missed no rate, or
// missed it by a busy generator beside a server with CPU left, or in a step that causes outside the implementation void, gives a lower
// bound; one that sustained no rate gives none, and counts as an implementation failure, so that nobody wins by the trials in which it
// sustained some. The ratios of all searches are members of the loads' family.
package capacity
