// Package scaling finds where an implementation's throughput stops rising with its connections.
//
// A level has reached the limit if no later level rises over it by more than noise, block by block. The peak of the
// Universal Scalability Law is reported only with six levels, seven blocks, a measured fall beyond the peak, and a
// curve that misses no level by a tenth. Otherwise the result is the two levels between which the throughput stops
// rising, and N* = Xmax · R(1). A level that the generator limited can rise over others, but has no limit itself.
package scaling
