// Package launched is a program seen by the agent beside its parent: the agent waits for the parent, reads the program's executable before
// anything runs, and learns how a launch has ended. Package launch is what the parent does.
//
// It commands nothing: when and how often a program is launched is decided by the agents that share it, the collector and the monitor of a profile.
package launched
