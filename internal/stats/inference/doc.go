// Package inference is the arithmetic of samples: what blocks of paired logs say of a mean, how sure that is, how many blocks it takes, and
// what is left of a p where many are looked at. It knows no record.
//
// A mean over several levels is the mean of each level's mean over the blocks that have a pair there, so that no level is left out. Its interval
// and its p come from a jackknife over blocks, which is the paired t where no pair is missing. What is known between two ends only is tested
// at the end that speaks for it most, and widens the interval.
package inference
