// Package pods reads from the pods of an attempt at a trial what has become of it: whether they run, what they wait for, and whose
// failure it is if they can no longer be measured. It asks nobody.
package pods
