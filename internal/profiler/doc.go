// Package profiler wraps the command of an implementation with a profiler, and says what can be believed of what the profiler wrote.
//
// The tools come with Loadstone, in a toolbox that is mounted into the implementation's own image: valgrind's memcheck, massif and
// callgrind, and strace. What they write is read by the packages below this one. The package is pure.
package profiler
