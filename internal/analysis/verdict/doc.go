// Package verdict compares contenders with a baseline: which is better, in what and by how much.
//
// The block is the unit of comparison: only ratios within blocks in which both sides have a cell that is not void
// count. Requests within a cell are not repetitions.
//
// A ratio is the geometric mean over blocks of contender / baseline at a level. Over a load it is the mean of its
// levels, each over its own pairs, so void cells exclude no level. Interval and p come from a jackknife over blocks
// on the log ratios; without missing pairs this is the paired t. A value known only between two ends (a latency in
// its bin, a search between the highest sustained and the lowest missed rate) is tested at the end nearest to no
// difference, and widens the interval.
//
// The deciding metric depends on the question and the bottleneck, never on the winner:
//
//   - Under a closed load, the throughput decides if the generator left neither side waiting. It is what users call
//     faster, and counts waiting as well as work.
//   - If the generator was the bottleneck, or busy next to an idle server, and in a duet, the server's CPU time per
//     request decides.
//   - At an imposed rate, the throughput is not compared; the CPU time per request decides. A side loses the level if
//     it misses a rate that the other always keeps, in most blocks and in more than chance allows. For two equals
//     that each miss it in a random half of the blocks, that chance has its own budget: ratesAlpha for all contenders
//     and levels.
//
// The other metrics, such as latency percentiles, are tested too. A throughput limited by the generator is a lower
// bound, a latency that waited in it an upper one. Such a value can show that its side is better, but not that it is
// worse or that there is no difference.
//
// Levels with different winners in the deciding metric give DependsOnLoad, and so does a level's winner if the load's
// mean shows no difference. Loads are averaged only with weights from the spec.
//
// No sentence hides a winner: if another metric, or a level in any metric, contradicts the deciding metric, the verdict
// is Mixed, and Comparison.Against lists the contradictions.
//
// At most one run in a hundred may name a wrong winner anywhere. family.go divides that budget; "make bench-stats"
// measures it. Objectives and interval ends are not part of it.
//
// An implementation that failed in some cell or trial cannot win by the cells that it survived.
package verdict
