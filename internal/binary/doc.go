// Package binary reads how an executable was built: compilers and flags, what was compiled into it, how it is linked and hardened.
//
// Nothing is guessed. An answer is Yes or No if the file shows it, and says by what; everything else is unknown. The file is never
// run, and may hold anything: what is read of it, and the memory for that, are bounded.
//
// The package is pure but for Open.
package binary
