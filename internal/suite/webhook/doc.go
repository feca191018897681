// Package webhook is what a request to the webhook of a suite has to be: how it is signed, which values it gives to parameters, how the suite's
// annotation holds it for the operator, and what has become of it for those who ask. It performs no side effects, and looks at no clock.
package webhook
