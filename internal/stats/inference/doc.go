// Package inference is the arithmetic of samples: what blocks of paired logs say of a mean, with what confidence, how
// many blocks that takes, and how to correct p for many tests. It knows no records.
package inference
