// Package capacity reads the highest rates that implementations sustained from the searches of a run.
//
// Steps of a search are not levels: their rates were found during the trials and differ between implementations. So
// they enter no groups or comparisons; each trial's final number counts. The number is a lower bound if no rate was
// missed, or if only a busy generator or outside causes missed it. A trial that sustained no rate has no number and
// counts as an implementation failure, so no side wins by its other trials. The ratios of all searches belong to the
// loads' family.
package capacity
