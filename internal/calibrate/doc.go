// Package calibrate makes the A/A run that finds a noise floor, one server under two names, for a cluster and for one machine, and reads what it has
// found. Reports find the noise floor by themselves (package publish).
package calibrate
