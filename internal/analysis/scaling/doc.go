// Package scaling says where the throughput of an implementation stops rising with its connections.
//
// A level of a sweep has reached the limit if no level after it rises over it by more than noise, block by block. The peak of the
// Universal Scalability Law is said only where six levels, seven blocks and a measured fall beyond the peak support it, and the curve
// misses no level by a tenth; otherwise the two levels between which the throughput stops rising, and N* = Xmax · R(1). A level that
// the generator limited can rise over others and has no limit of its own.
package scaling
