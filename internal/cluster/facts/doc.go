// Package facts says what objects of a cluster say, in the words of whom leads a run: runs, trials, pods and nodes become facts for packages
// conduct and plan. It reads no object itself.
package facts
