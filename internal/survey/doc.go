// Package survey reads what package doctor judges, of this machine and of a cluster. It changes nothing.
package survey
