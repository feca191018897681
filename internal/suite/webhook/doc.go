// Package webhook defines a suite's webhook requests: their signature, the values that they give to parameters, their
// annotation on the suite, and their state for the sender. It is pure.
package webhook
