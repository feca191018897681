// Package verdict compares contenders with a baseline, and says which is better, in what and by how much.
//
// The block is the unit of comparison: two implementations are compared only by the ratios within blocks in which both have a cell that is
// not void. Requests within a cell are no repetitions of anything.
//
// A ratio is the geometric mean over blocks of contender / baseline, level by level, and over a load the mean of its levels: each level's
// mean over the blocks that have a pair there, so that no level is left out whichever cells are void. Its interval and its p come from a
// jackknife over blocks on the logs of the ratios, which is the paired t where no pair is missing. What is known between two ends only (a
// latency in its histogram's bin, a search between the highest rate sustained and the lowest missed) is tested at the end that speaks for
// it most, and widens the interval.
//
// Which metric decides depends on the question and on who was the bottleneck, never on who won:
//
//   - Under a closed load the throughput decides where the generator left neither side waiting. It is what users mean by faster, and it counts
//     waiting as well as work.
//   - Where the generator was the bottleneck, or busy beside a server that was not, and in a duet, the server's CPU time per request decides.
//   - At an imposed rate the throughput is what was asked for, and is not compared at all; the CPU time per request decides. Who does not keep
//     a rate that the other always keeps, in most blocks and in more than chance would let it, has lost that level. That chance, for two
//     equals that each miss it in a random half of the blocks, has a budget of its own: ratesAlpha for all contenders and levels.
//
// The other metrics, latency percentiles among them, are tested beside it. A throughput that the generator limited is a lower bound, and a
// latency that waited in it an upper one: such a value can support that side being better, never that it is worse or that there is no
// difference.
//
// Levels of a load that have different winners make the verdict DependsOnLoad, and so does a winner at a level whose load shows no difference in
// the mean. Loads are averaged only with weights from the spec.
//
// At most one run of a hundred names a wrong winner anywhere. How that budget is shared out is in family.go, and measured by "make bench-stats".
// Objectives and the ends of intervals are no part of it.
//
// Fewer than MinBlocks pairs at some level give a ratio and no verdict. NoDifference needs the interval to lie within
// inference.EquivalenceMargin. An implementation that failed in some cell or trial cannot win through the cells that it survived.
package verdict
