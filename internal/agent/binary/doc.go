// Package binary reads how an executable was built: compilers and flags, linked libraries, hardening.
//
// An answer is Yes or No only if the file shows it, with the evidence. Everything else is unknown. The file is untrusted: it is never run, and
// reads and memory are bounded.
package binary
