// Package profiler wraps an implementation's command with a profiler, and judges the reliability of its output.
//
// The tools come with Loadstone, in a toolbox mounted into the implementation's image: valgrind's memcheck, massif and callgrind, and strace.
// The package is pure.
package profiler
