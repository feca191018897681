// Package stats turns what a run has left behind into the table from which every report is printed: what was measured, how far
// each number can be believed, and who is faster by how much.
//
// It is pure: it reads record.RunData, and neither formats, nor draws, nor reads a clock or a file. Words, units of display and
// pictures are the business of package report; here numbers have the unit that their field's name says.
//
// # Units of repetition
//
// A cell is one level of one load in one trial, and a trial is one fresh process. The block is the unit of comparison: two
// implementations are compared only by the ratios within blocks in which both have a cell that is not Void. Requests within a
// cell are no repetitions of anything.
//
// A trial of a duet holds two servers that shared one CPU and took turns under one load. It is read as two trials of the same block,
// one of each, before anything else is done. Throughput is related to the time for which the tool was let run. It has no latencies:
// those of a tool that is frozen hold the time for which it was.
//
// # Validity
//
// Every cell is Valid, Suspect or Void, by the checks whose list is in validity.go. Those that need more than one cell, in
// crosschecks.go, come after all others, and mark but never void. A Void cell enters no mean, no distribution and no
// comparison, and is listed with its reasons; a Suspect cell enters all of them, and is marked.
//
// # Latency
//
// There are four kinds of latency, and no two of them are merged or compared. A tool that gives quantiles only is known by brackets:
// its samples lie between two histograms, which are merged each by itself, so that a merged quantile or mean is an interval that
// holds the real one. Requests that timed out, and arrivals that were never sent, rank above all samples.
//
// # Verdicts
//
// A ratio is the geometric mean over blocks of contender / baseline. Its interval and its p come from the paired t on the logs of
// the ratios; a verdict needs an adjusted p of 0.007, which keeps the share of runs with a false one below one in a hundred. Two
// metrics are compared: the server's CPU time per request and the throughput. One of them decides, and which one depends on who was
// the bottleneck, never on who won:
//
//   - At a level where the generator limited neither side in any block, the throughput decides. It is what users mean by faster,
//     and it counts waiting as well as work.
//   - Otherwise the CPU time per request decides, since such a throughput says nothing about the server.
//   - Over all levels the throughput decides if it does so at every level, otherwise the CPU time per request does.
//
// A throughput that the generator limited is a lower bound: it can support that side being faster, never that it is slower or
// that there is no difference.
//
// The tests form a gate. First the mean over the levels of each implementation's deciding metric is tested (Holm over
// implementations). An implementation's levels (Holm over its levels) get a Faster or Slower only if that first test has decided,
// or if its levels differ from the baseline in both directions, each significantly: a crossing that a mean would hide, and that
// chance produces with a probability of the order of alpha squared. The metric that does not decide is tested likewise in a
// family of its own and stands beside it. So the verdicts that decide are wrong in at most one run of a hundred.
//
// Fewer than MinBlocks blocks give a ratio and no verdict. NoDifference needs the interval to lie within EquivalenceMargin. An
// implementation that failed in some cell or trial by its own fault cannot win, lest it win by the cells that it survived.
//
// # Scaling
//
// A level of a sweep has reached the limit if no level after it rises over it by more than noise, block by block. The peak of the
// Universal Scalability Law is said only where six levels, seven blocks and a measured fall beyond the peak support it, and the curve
// misses no level by a tenth; otherwise the two levels between which the throughput ends to rise, and N* = Xmax · R(1). A level that
// the generator limited can rise over others and has no limit of its own.
//
// # Capacity
//
// The steps of a search are no levels: their rates were found while the trials ran and differ between implementations, so that they
// enter neither groups nor comparisons. What counts is the number that each trial ends with. A trial whose searches missed no rate, or
// missed it by a busy generator beside a server with CPU left, or in a step that causes outside the implementation void, gives a lower
// bound; one that kept no rate gives none, and counts as the implementation's own fault, so that nobody wins by the trials in which it
// kept some. The ratios of all searches are a family of their own (Holm), by the same rules. They have their own alpha, and they
// neither open the gate of the levels nor are behind it: the verdicts over levels are wrong no more often with a search than without.
//
// # Objectives
//
// An objective is Met if the whole interval of its figure keeps the bound, Missed if the whole interval breaks it, Undecided
// otherwise. A throughput of a limited generator has no upper end, a latency of a busy one no lower end. An implementation that
// failed by its own fault meets nothing; its errors count in ErrorRate, over void cells too. A Regression divides out the drift of
// the machine through an anchor, which must be the same image, command and CPUs in both runs.
//
// # Noise floor
//
// An A/A run, in which two contenders are the same thing, says which differences a machine shows where there are none.
package stats
