// Package binary reads how an executable was built: compilers and flags, linked libraries, hardening. OfProcess and InProcess
// read the executable of a running process, where the process sees it.
//
// An answer is Yes or No only if the file shows it, with the evidence. Everything else is unknown. The file is never run,
// and is untrusted: what is read of it, and the memory for that, are bounded.
package binary
