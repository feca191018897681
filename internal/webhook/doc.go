// Package webhook is what a request to the webhook of a suite has to be: how it is signed, which values it gives to parameters, and how the suite's
// annotation holds it for the operator. It performs no side effects, and looks at no clock.
package webhook
