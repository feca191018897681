// Package inference is the arithmetic of samples: what blocks of paired logs say of a mean, with what confidence, how
// many blocks that takes, and how to correct p for many tests. It knows no records.
//
// A mean over several levels averages each level's mean over its own pairs, so no level is left out. Its interval and
// p come from a jackknife over blocks; without missing pairs this is the paired t. A value known only between two
// ends is tested at the end nearest to no difference, and widens the interval.
package inference
