// Package stats turns what a run has left behind into the table from which every report is printed: what was measured, how far
// each number can be believed, and which is better, in what and by how much.
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
// A ratio is the geometric mean over blocks of contender / baseline, level by level, and over a load the mean of its levels: each level's mean
// over the blocks that have a pair there, so that no level is left out whichever cells are void. Its interval and its p come from a jackknife
// over blocks on the logs of the ratios, which is the paired t where no pair is missing. What is known between two ends only (a latency in its
// histogram's bin, a search between the highest rate kept and the lowest missed) is tested at the end that speaks for it most, and widens the
// interval.
//
// Which metric decides depends on the question and on who was the bottleneck, never on who won:
//
//   - Under a closed load the throughput decides where the generator left neither side waiting. It is what users mean by faster, and it counts
//     waiting as well as work.
//   - Where the generator was the limit, or busy beside a server that was not, and in a duet, the server's CPU time per request decides.
//   - At an imposed rate the throughput is what was asked for, and is not compared at all; the CPU time per request decides. Who does not keep
//     a rate that the other always keeps, in most blocks and in more than chance would let it, has lost that level. That chance, for two
//     equals that each miss it in a random half of the blocks, has a budget of its own: ratesAlpha for all contenders and levels.
//
// The other metrics, latency percentiles among them, are tested beside it. A throughput that the generator limited is a lower bound, and a
// latency that waited in it an upper one: such a figure can support that side being better, never that it is worse or that there is no
// difference.
//
// Levels of a load that have different winners make the verdict DependsOnLoad, and so does a winner at a level whose load shows no difference in
// the mean. Loads are averaged only with weights from the spec.
//
// At most one run of a hundred names a wrong winner anywhere. How that budget is shared out is in family.go, and measured by "make bench-stats".
// Objectives and the ends of intervals are no part of it.
//
// Fewer than MinBlocks pairs at some level give a ratio and no verdict. NoDifference needs the interval to lie within EquivalenceMargin. An
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
// kept some. The ratios of all searches are members of the loads' family.
//
// # Objectives
//
// An objective is Met if the whole interval of its figure keeps the bound, Missed if the whole interval breaks it, Undecided
// otherwise. A throughput of a limited generator has no upper end, a latency of a busy one no lower end. An implementation that
// failed by its own fault meets nothing; its errors count in ErrorRate, over void cells too. A Regression divides out the drift of
// the machine through an anchor, which must be the same image, command and CPUs in all runs; from three earlier runs on, the spread between them
// is its error.
//
// # Noise floor
//
// An A/A run, in which two contenders are the same thing, says which differences a machine shows where there are none.
package stats
