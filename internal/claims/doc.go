// Package claims checks what a user states of an implementation against what is known of its executable and of its process. It is pure. A
// claim is refuted only by what was read and rules it out; what was not read, or does not show it, leaves it unchecked.
package claims
